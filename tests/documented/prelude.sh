# What stands in for the world around a page: its commands are the built ones, its service listens
# on a port that is free, published data come from a folder, and what a reader would look at is not shown.
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
probity() {
    makes_anew "$@"
    if [ "$1" = serve ] && [ "${2#--}" != "$2" ]; then
        "$PROBITY" "${@/8080/$PORT}" &
        started="$started $!"
        trap 'kill $started' EXIT
        until command curl -s -o "$HOME/answer" "http://127.0.0.1:$PORT/"; do sleep 0.1; done
    elif [ "$1" = work ]; then
        "$PROBITY" "${@/8080/$PORT}" > "$HOME/works" &
        worker=$!
        started="$started $worker"
        until grep -q "^Probity works" "$HOME/works"; do kill -0 $worker || return 1; sleep 0.1; done
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
