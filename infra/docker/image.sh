#!/usr/bin/env bash
# Builds the image of one target with buildah. Usage, as root, from anywhere: image.sh cpu|cuda [options of buildah bud]
# BASE: base image with Debian 12. The default, localhost/suphx-debian, is built from Debian's packages.
# REFRESH=1: build the base and every layer again, with the newest packages of Debian.
set -euo pipefail
target=${1:?usage: image.sh cpu|cuda [options of buildah bud]}
shift
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$folder/../.." && pwd)
base=${BASE:-localhost/suphx-debian}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$repository/pyproject.toml")

if [ "$target" = cuda ] && [[ " $* " == *CPU_WHEELS=[![:space:]]* ]]; then
    echo "image.sh: CPU_WHEELS installs torch without CUDA: omit it for suphx-cuda" >&2
    exit 1
fi
if [ "$base" = localhost/suphx-debian ]; then
    "$folder/debian_base.sh" "${MIRROR:-}" "${SECURITY_MIRROR:-}"
fi
if [ -n "${REFRESH:-}" ]; then
    set -- --no-cache "$@"
fi
exec buildah bud --isolation chroot --layers --format oci \
    --file "$folder/Dockerfile" --target "$target" --tag "suphx-$target:$version" \
    --build-arg BASE="$base" --build-arg VERSION="$version" \
    --build-arg REVISION="$(git -C "$repository" rev-parse HEAD 2>/dev/null || echo unknown)" \
    "$@" "$repository"
