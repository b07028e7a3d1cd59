#!/bin/sh
# Runs the GPU tests on the first GPU of this machine: `gpu` (driver, NVRTC, cache of kernels), then
# `engines` (label propagation, clustering coefficients, swarms). Needs a driver, and NVRTC where the
# system finds libraries (LD_LIBRARY_PATH).
#
#     sh run.sh [--sanitizer memcheck|racecheck|initcheck|synccheck] [FILTER…]
#
# Without a filter: all but the tests that use no GPU, and need a C or C++ compiler. A filter is a part
# of a test's name; options as `--nocapture` are the test runner's.
#
# racecheck keeps what it sees in main memory, more than 60 GB for some tests: name one test at a time.
#
# RIPPLET_GPU_SCALE   generated graphs have 2^N vertices (16; 8 under a sanitizer)
# RIPPLET_GPUS        GPUs that share a run, in the tests of several (2, or one in both roles)
# PROPTEST_CASES      random graphs for each program (16; 1 under a sanitizer)
# RIPPLET_CACHE       where compiled kernels are kept (a fresh folder, removed afterwards)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sanitizer=
if [ "${1:-}" = --sanitizer ]; then
    case "${2:-}" in
    memcheck | racecheck | initcheck | synccheck) sanitizer=$2 ;;
    *)
        echo "run.sh: --sanitizer is memcheck, racecheck, initcheck or synccheck" >&2
        exit 2
        ;;
    esac
    shift 2
    command -v compute-sanitizer >/dev/null || {
        echo "run.sh: no compute-sanitizer; the CUDA toolkit has it" >&2
        exit 2
    }
fi
if [ $# -eq 0 ]; then
    echo "run.sh: without the tests that use no GPU"
    set -- cache:: nvrtc:: conformance:: families:: large:: lcc:: ldbc:: runs:: swarm::
fi
if [ -z "${RIPPLET_CACHE:-}" ]; then
    RIPPLET_CACHE=$(mktemp -d)
    trap 'rm -rf "$RIPPLET_CACHE"' EXIT
fi
export RIPPLET_CACHE RIPPLET_REQUIRE_NVRTC=1 RUST_BACKTRACE="${RUST_BACKTRACE:-1}"
cd "$here"
for suite in gpu engines; do
    if [ -z "$sanitizer" ]; then
        RIPPLET_GPU=all PROPTEST_CASES="${PROPTEST_CASES:-16}" "./$suite" "$@"
    else
        # One test at a time, as the tool keeps a record of each launch, and fewer combinations.
        RIPPLET_GPU=sampled RIPPLET_GPU_SCALE="${RIPPLET_GPU_SCALE:-8}" \
            PROPTEST_CASES="${PROPTEST_CASES:-1}" \
            compute-sanitizer --tool "$sanitizer" --error-exitcode 9 "./$suite" --test-threads=1 "$@"
    fi
done
