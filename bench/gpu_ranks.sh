#!/usr/bin/env bash
# Times of `lpa` and `cdlp` on one GPU, on two of one process, and on two of two ranks over MPI, on one machine; labels are
# compared with the CPU's.
#
# bench/gpu_ranks.sh RIPPLET MPIRUN FOLDER    (FOLDER is for graphs and outputs)
set -euo pipefail
ripplet=$1 mpirun=$2 folder=$3
"$ripplet" --version
"$mpirun" --version | head -1
nvidia-smi --query-gpu=index,name,driver_version --format=csv,noheader
cd "$folder"
compute() {
  python3 - "$1" << 'END'
import json
import sys

run = json.load(open(sys.argv[1]))
print(f"{1e3 * run['seconds']['compute']:9.1f} ms, {1e3 * sum(run['round_seconds']):9.1f} ms of {run['iterations']} rounds, modularity {run['modularity']:.4f}, {run['device']}")
END
}
for graph in "rmat 20" "rmat 22" "web 20" "web 22"; do
  read -r family scale <<< "$graph"
  "$ripplet" --quiet generate "$family" --scale "$scale" -o graph.rg
  for program in lpa cdlp; do
    run="communities graph.rg --program $program --stats s.json"
    "$ripplet" --quiet $run -o expected.tsv --device cpu
    printf '%-5s %s %-4s %-18s' "$family" "$scale" "$program" "cores" && compute s.json
    for way in "cuda:0" "cuda:0,1" "ranks"; do
      for turn in 1 2 3; do
        if [ "$way" = ranks ]; then
          "$mpirun" -n 2 "$ripplet" --quiet $run -o found.tsv --device cuda:0,1
        else
          "$ripplet" --quiet $run -o found.tsv --device "$way"
        fi
        cmp found.tsv expected.tsv
        printf '%-5s %s %-4s %-18s' "$family" "$scale" "$program" "$way" && compute s.json
      done
    done
  done
done
