#!/usr/bin/env bash
# Write a CycloneDX SBOM of the packages in an image from its locks: sbom.sh BIN cpu|cuda OUTPUT
# BIN is the folder of cyclonedx-py; cpu: torch without CUDA, as CPU_WHEELS installs it. Equal locks give equal files.
set -euo pipefail
bin=$1 torch=$2 output=$3
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p "$(dirname "$output")"
cat infra/setup/image.lock "infra/setup/torch-$torch.lock" \
    | PYTHONWARNINGS=ignore "$bin/cyclonedx-py" requirements --pyproject pyproject.toml --output-reproducible --output-file "$output" -
echo "$output: $(grep -c '"purl"' "$output") packages" >&2
