#!/bin/bash
# An agent that works and tells: each write is on the disk of its copy before it is told to the truth log outside, over
# TCP, which every containment lets through. Bash, since a Node agent would cost ten times as much to start; and as few
# other programs as can be, since here they are most of the price.
# Arguments: the truth log's port, the task, how many writes, the longest pause after one in milliseconds.
set -u
task=$2 writes=$3 pause_ms=$4
exec 5<>"/dev/tcp/127.0.0.1/$1" || exit 3

tell() { printf '%s %s %s %s\n' "$task" "$1" "$2" "$3" >&5 || exit 4; }

tell begin - 0
for ((n = 1; n <= writes; n++)); do
  line="$task write $n of this run"
  case $((n % 4)) in
    1) path=made/$n.txt what=create
      for ((i = 0; i < n * 9; i++)); do echo "$line"; done >"$path" ;;
    2) path=log.txt what=append
      echo "$line" >>"$path" ;;
    3) path=doomed/$((n / 4)).txt what=remove
      rm -- "$path" ;;
    # Never half of it: what it replaces was told.
    0) path=given.txt what=replace
      echo "$line" >.next && mv .next "$path" ;;
  esac || exit 5
  if [ "$what" = remove ]; then sync doomed; else sync "$path"; fi || exit 6
  tell "$what" "$path" "$n"
  # Nothing ever comes from there: it is how bash waits without a process.
  printf -v pause '0.%03d' $((RANDOM % pause_ms))
  read -rt "$pause" -u 5
done
printf '{"outcome":"done","summary":"wrote","dispositions":[]}' >"$LANES_RESULT_FILE"
