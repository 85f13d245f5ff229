#!/usr/bin/env bash
# Trains on all GPUs of this machine: scripts/train.sh [arguments of fastops.train]
set -euo pipefail
cd "$(dirname "$0")/.."

export CUDA_HOME="${CUDA_HOME:-/usr/local/cuda}"
export PATH="$CUDA_HOME/bin:$PATH"
export CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES:-0,1}"
export NCCL_DEBUG="${NCCL_DEBUG:-WARN}"

IFS=, read -ra devices <<< "$CUDA_VISIBLE_DEVICES"
torchrun --standalone --nproc_per_node "${#devices[@]}" -m fastops.train --device cuda "$@"
