#!/usr/bin/env bash
# Install the packages of LOCK with the pip of VENV, only files with the hashes in it, and show the progress:
#   install.sh VENV LOCK [TORCH_CPU TORCH_CUDA]
# TORCH_CPU and TORCH_CUDA are locks of torch: the first is used if pip is set up with a source of wheels without CUDA.
# The kernels of the first games are compiled while pip downloads the rest.
set -euo pipefail
venv=$1 lock=$2 torch_cpu=${3:-} torch_cuda=${4:-}
log=$venv/install.log kernels_log=$venv/kernels.log
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
"$(dirname "$0")/check_python.sh" "$venv/bin/python" "remove $venv and run make setup PYTHON=/path/to/python3"
# A package without a wheel is built with the setuptools of the lock: pip would fetch the newest one, without its hash.
pip=("$venv/bin/pip" install --disable-pip-version-check --require-hashes --no-deps --use-pep517 --no-build-isolation)

fail() {
    if [ -t 2 ]; then echo >&2; fi
    tail -n 20 "$log" >&2
    echo "$1" >&2
    exit 1
}

explain_failure() {
    if grep -q "DO NOT MATCH THE HASHES" "$log"; then
        fail "a package is not the file that the lock names (see $log); do not use it before you know why"
    fi
    fail "pip failed (see $log); check the network and the disk, then run make setup again"
}

# Install the packages NAME… of the lock, as far as it has them.
install_first() {
    awk -v names=" $* " '/^[^ #]/ {split($1, part, "=="); found = index(names, " " part[1] " ")} found' "$lock" > "$venv/first.lock"
    if [ -s "$venv/first.lock" ]; then
        "${pip[@]}" --requirement "$venv/first.lock" > "$log" 2>&1 || explain_failure
    fi
}

# The pool of processes ends with this script, because its input does. What it compiles stays; a failure is no error
# here: what is missing is compiled when it is needed.
compile_kernels() {
    kernels=""
    if [ -d "$root/suphx" ] && "$venv/bin/python" -c "import numba" 2> /dev/null; then
        echo "compiling the rules engine in the background; messages: $kernels_log" >&2
        rm -f "$venv/kernels.input"
        mkfifo "$venv/kernels.input"
        exec 9<> "$venv/kernels.input"
        PYTHONPATH=$root:$root/platform nice "$venv/bin/python" -m suphx_platform.kernels.compile_pool \
            < "$venv/kernels.input" > "$kernels_log" 2>&1 9>&- &
        kernels=$!
        rm "$venv/kernels.input"
    fi
}

has_first_kernels() {
    ! kill -0 "$kernels" 2> /dev/null || [ "$(grep -cxE 'engine|hands|scripted games' "$kernels_log")" = 3 ]
}

# pip alone would choose the wheel whose hash the package index shows, even if a wheel without CUDA lies in a local folder.
torch_lock() {
    if "${pip[@]}" --dry-run --ignore-installed --requirement "$torch_cpu" > "$log" 2>&1 \
        && grep -q "^Would install" "$log"; then
        echo "$torch_cpu"
    elif grep -qE "No matching distribution found|markers .* don't match" "$log"; then
        echo "$torch_cuda"
    else
        fail "pip refuses the wheel of torch without CUDA (see $log)"
    fi
}

locks=("$lock")
if [ -n "$torch_cpu" ]; then
    locks+=("$(torch_lock)")
fi
total=$(cat "${locks[@]}" | grep -c ==)
bytecode_log=$venv/bytecode.log
if [ -t 2 ]; then seconds_between_looks=2; else seconds_between_looks=5; fi

installed() {
    find "$venv"/lib/python3*/site-packages -maxdepth 1 -name '*.dist-info' | wc -l
}
before=$(installed)

# Which package pip reads or downloads; then how many are installed.
state() {
    if grep -q '^Installing collected packages' "$log"; then
        echo "installing: $(($(installed) - before)) of $total packages"
    else
        echo "reading and downloading: $(grep -c '^Collecting' "$log" || true) of $total packages," \
            "$(grep '^Collecting' "$log" | tail -n 1 | cut -d ' ' -f 2)"
    fi
}

show() {
    if [ -t 2 ]; then
        printf '\r\033[K%s' "$1" >&2
    elif [ "$1" != "${shown:-}" ]; then
        echo "$1" >&2
        shown=$1
    fi
}

echo "installing $total packages (torch, ray, mlflow, …) into $venv; messages of pip: $log" >&2
install_first setuptools numba numpy llvmlite lazy-loader filelock safetensors \
    gymnasium cloudpickle farama-notifications typing-extensions
compile_kernels
# Bytecode is compiled afterwards on all cores; pip would do it on one.
"${pip[@]}" --no-compile "${locks[@]/#/--requirement=}" > "$log" 2>&1 &
job=$!
trap 'kill $job 2> /dev/null; echo "stopped; run make setup again to continue" >&2; exit 130' INT TERM
while kill -0 $job 2> /dev/null; do
    sleep $seconds_between_looks
    show "$(state)"
done
if ! wait $job; then
    explain_failure
fi
if ! "$venv/bin/pip" check --disable-pip-version-check > "$log" 2>&1; then
    fail "the lock does not have all that its packages need; run make lock"
fi
show "installing: $total of $total packages"
if [ -t 2 ]; then echo >&2; fi
: > "$bytecode_log"
files=$(find "$venv"/lib/python3*/site-packages -name '*.py' | wc -l)
"$venv/bin/python" -m compileall -j 0 "$venv"/lib/python3*/site-packages > "$bytecode_log" 2>&1 &
job=$!
while kill -0 $job 2> /dev/null; do
    show "compiling to bytecode: $(grep -c '^Compiling' "$bytecode_log" || true) of $files files"
    sleep $seconds_between_looks
done
wait $job || true # some packages contain files of Python 2
while [ -n "$kernels" ] && ! has_first_kernels; do
    show "compiling the rules engine"
    sleep $seconds_between_looks
done
if [ -t 2 ]; then echo >&2; fi
echo "installed $total packages" >&2
