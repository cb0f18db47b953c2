#!/usr/bin/env bash
# install_dependencies.sh [packages...] : installs what building needs, and the packages named, on Debian and Ubuntu.
# Does nothing, and needs no network, when all is there. Elsewhere it only says what is needed; CMake has the last word.
set -euo pipefail

# xtl comes with libxtensor-dev, under different names.
packages=(libxtensor-dev libxtensor-blas-dev libopenblas-dev nlohmann-json3-dev libutf8proc-dev
  libcli11-dev "$@")
command -v cmake >/dev/null || packages+=(cmake)
command -v ninja >/dev/null || packages+=(ninja-build)
command -v make >/dev/null || packages+=(make)  # what CMake and Conan use unless told otherwise
command -v pkg-config >/dev/null || packages+=(pkg-config)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "Not a Debian-like system, nothing is installed. Needed, by Debian's names: ${packages[*]}"
  exit
fi

missing=()
native=$(dpkg --print-architecture)
for package in "${packages[@]}"; do
  # A package without an architecture is this machine's, though another's may be there, too.
  architecture=$native
  [[ $package != *:* ]] || architecture=${package#*:}
  # shellcheck disable=SC2016 # the format is dpkg's
  found=$(dpkg-query -W -f='${Architecture} ${db:Status-Status}\n' "${package%:*}" 2>/dev/null) || true
  grep -qxE "($architecture|all) installed" <<<"$found" || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=(env DEBIAN_FRONTEND=noninteractive)
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "Neither root nor sudo, nothing is installed. Needed: ${missing[*]}"
    exit
  fi
  as_root=(sudo "${as_root[@]}")
fi

echo "Installing ${missing[*]}"
apt=("${as_root[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
install_missing() { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; }
# An installation that was killed half-way, by whomever, leaves dpkg refusing all others until it has been finished.
finish_interrupted() { "${as_root[@]}" dpkg --configure -a && "${apt[@]}" -y --fix-broken install; }
if ! install_missing >/dev/null && ! { finish_interrupted && install_missing; } >/dev/null; then
  echo "apt-get could not install all of: ${missing[*]}"
fi
