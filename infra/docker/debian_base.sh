#!/usr/bin/env bash
# Builds the image localhost/suphx-debian from Debian's packages: the base of `make image` on machines without access to a registry.
# Usage, as root: debian_base.sh [MIRROR]
set -euo pipefail
mirror=${1:-http://deb.debian.org/debian}
image=localhost/suphx-debian

if buildah inspect --type image "$image" >/dev/null 2>&1; then
    exit 0
fi
root=$(mktemp --directory)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase bookworm "$root" "$mirror"
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
container=$(buildah from scratch)
buildah add --quiet "$container" "$root" / >/dev/null
buildah config --cmd /bin/bash "$container"
buildah commit --quiet --rm "$container" "$image"
