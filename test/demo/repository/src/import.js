/** Reads widgets from lines of `name;price`. */
export function importWidgets(text) {
  return text.split('\n').map((line) => {
    const [name, price] = line.split(';');
    return { name, price: Number(price) };
  });
}
