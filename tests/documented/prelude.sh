# What stands in for the world around a page: its commands are the built ones, its service listens
# on a port that the system gives it, published data come from a folder, and what a reader would look at is not shown.
# What a page makes, its reader does not have yet: a file that was given for the commands before goes. (Each
# example of the help is for a reader who has made no other one.)
makes_anew() {
    while [ $# -gt 1 ]; do
        if [ "$1" = --out ] && [ -f "$2" ] && { [ "$APART" = true ] || grep -Fxq -- "$2" "$GIVEN"; }; then
            rm "$2"
            sed -i "\\|^$2\$|d" "$GIVEN"
        fi
        shift
    done
}
# Starts a command that goes on, and waits for its first line, which begins with $1.
begins() {
    local words=$1
    shift
    # Nothing of a command before.
    : > "$HOME/says"
    "$PROBITY" "$@" > "$HOME/says" &
    local id=$!
    started="$started $id"
    trap 'kill $started' EXIT
    until line=$(grep -m 1 "^$words" "$HOME/says"); do
        kill -0 $id || return 1
        sleep 0.1
    done
    echo "$line"
}
probity() {
    makes_anew "$@"
    if [ "$1" = serve ] && [ "${2#--}" != "$2" ]; then
        # Its first line says where it listens.
        begins "Probity listens on http://" "${@/8080/0}" || return 1
        PORT=${line##*:}
    elif [ "$1" = work ]; then
        begins "Probity works for " "${@/8080/$PORT}"
    elif [ "$1 $2" = "data fetch" ]; then
        "$PROBITY" "$@" --from "$PUBLISHED"
    else
        "$PROBITY" "$@"
    fi
}
cargo() {
    case "$*" in
    "run --release -- "*) "$PROBITY" "${@:4}" ;;
    "test --release" | "build --release "*) ;;
    *) echo "cargo $*?" >&2; return 1 ;;
    esac
}
curl() { command curl -sS --fail-with-body "${@//:8080/:$PORT}"; }
pip() { :; }
python3() { "$PYTHON" "$@"; }
mkdir -p "$HOME"
bin=$HOME/bin
mkdir "$bin"
# Processes that probity starts find no functions.
printf '#!/bin/sh\nexec "%s" "$@"\n' "$PYTHON" > "$bin/python3"
chmod +x "$bin/python3"
PATH=$bin:$PATH
