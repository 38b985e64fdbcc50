#!/bin/sh
# Stands for npx, uvx or docker: starts the server as a grandchild and stays in front of it. "$1" is node, "$2" the script of the server.
# Whatever happens, its own pid and the server's pid are in the file "$3".
# A shell gives its background jobs /dev/null for stdin unless told otherwise.
exec 3<&0
"$1" "$(dirname "$0")/scripted.mjs" "$2" <&3 &
echo "$$ $!" > "$3"
wait
