#!/bin/sh
# Installs the program misdeal of a release into ~/.local/bin, or into the folder that MISDEAL_BIN names.
#
#   curl -fsSL https://github.com/OWNER/NAME/releases/latest/download/install.sh | sh
#
# MISDEAL_VERSION names another release than the latest, for example v0.2.0. MISDEAL_REPOSITORY names another repository.
set -eu
# A release fills this in.
repository="${MISDEAL_REPOSITORY:-@REPOSITORY@}"
folder="${MISDEAL_BIN:-$HOME/.local/bin}"

case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) target=x86_64-unknown-linux-gnu ;;
    Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-gnu ;;
    Darwin-x86_64) target=x86_64-apple-darwin ;;
    Darwin-arm64) target=aarch64-apple-darwin ;;
    *)
        echo "misdeal: no program for $(uname -s) on $(uname -m); try pip install misdeal" >&2
        exit 2
        ;;
esac
case "$repository" in
    @*)
        echo "misdeal: MISDEAL_REPOSITORY is not set; set it to OWNER/NAME, or take install.sh from a release" >&2
        exit 2
        ;;
esac
releases="${MISDEAL_RELEASES:-https://github.com/$repository/releases}"
if [ -n "${MISDEAL_VERSION:-}" ]; then from="$releases/download/$MISDEAL_VERSION"; else from="$releases/latest/download"; fi

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
archive="misdeal-$target.tar.gz"
curl -fsSL -O "$from/$archive" -O "$from/$archive.sha256"
if command -v sha256sum >/dev/null; then sha256sum -c "$archive.sha256" >&2; else shasum -a 256 -c "$archive.sha256" >&2; fi
tar -xzf "$archive"
mkdir -p "$folder"
mv "misdeal-$target/misdeal" "$folder/misdeal"
"$folder/misdeal" --version
echo "Installed as $folder/misdeal. Manual pages and completions are in the archive $from/$archive." >&2
case ":$PATH:" in *":$folder:"*) ;; *) echo "Add $folder to PATH." >&2 ;; esac
