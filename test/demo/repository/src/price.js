/** The total of a cart, as a string. */
export function total(items) {
  return String(items.reduce((sum, item) => sum + item.price * item.count, 0));
}
