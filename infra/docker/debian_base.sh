#!/usr/bin/env bash
# Builds the image localhost/suphx-debian from Debian's packages: the base of `make image` on machines without access to a registry.
# Usage, as root: debian_base.sh [MIRROR [SECURITY_MIRROR]]
# REFRESH=1: build it again although it exists.
set -euo pipefail
mirror=${1:-http://deb.debian.org/debian}
mirror=${mirror%/}
security=${2:-$mirror-security}
image=localhost/suphx-debian

if [ -z "${REFRESH:-}" ] && buildah inspect --type image "$image" >/dev/null 2>&1; then
    exit 0
fi
root=$(mktemp --directory)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase bookworm "$root" "$mirror"
cat >"$root/etc/apt/sources.list" <<END
deb $mirror bookworm main
deb $mirror bookworm-updates main
deb $security bookworm-security main
END
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
container=$(buildah from scratch)
buildah add --quiet "$container" "$root" / >/dev/null
buildah config --cmd /bin/bash "$container"
buildah commit --quiet --rm "$container" "$image"
