# Agents that must not outlive their supervisor. Arguments: what it does, a file to write, a name found on the command line
# of each of its processes. Bare `write` is the loop that all of them end in.
what=$1 canary=$2 name=$3
self() { echo sh "$0" write "$canary" "$name"; }
case $what in
  write) while :; do echo "$$" >>"$canary"; sleep 0.02; done ;;
  plain) exec $(self) ;;
  daemon) (setsid $(self) &) ;;
  session) setsid $(self) & ;;
  ignores) trap '' INT TERM HUP; $(self) & ;;
  stopped) $(self) & while ! [ -s "$canary" ]; do sleep 0.02; done; kill -STOP $! ;;
  # It has nothing of the run but its folder.
  cleared) setsid env -i PATH="$PATH" $(self) 3>&- </dev/null >/dev/null 2>&1 & ;;
  # It has nothing but the lock.
  locked) cd / && setsid env -i PATH="$PATH" $(self) </dev/null >/dev/null 2>&1 & ;;
  # It has nothing at all: no environment, folder, descriptor, parent, group.
  traceless) (cd / && setsid env -i PATH="$PATH" $(self) 3>&- </dev/null >/dev/null 2>&1 &) ;;
  # Never the same process for long: each generation starts the next one and ends.
  hopper) (setsid sh "$0" hop "$canary" "$name" &) ;;
  hop) echo "$$" >>"$canary"; sleep 0.02; sh "$0" hop "$canary" "$name" & exit ;;
esac
# The first process stays, or its end would end the run.
exec sh -c 'while :; do sleep 60; done' "$name"
