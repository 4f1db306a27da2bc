#!/usr/bin/env bash
# Installs flowsched, its shell completions and its manual pages under PREFIX (/usr/local unless it is
# set), or removes them. DESTDIR, where a package is put together, goes before PREFIX.
#
#   scripts/install.sh BINARY
#   scripts/install.sh --uninstall
set -euo pipefail

prefix=${DESTDIR:-}${PREFIX:-/usr/local}
program=$prefix/bin/flowsched
bash_completion=$prefix/share/bash-completion/completions/flowsched
zsh_completion=$prefix/share/zsh/site-functions/_flowsched
fish_completion=$prefix/share/fish/vendor_completions.d/flowsched.fish
manual=$prefix/share/man/man1

if [ "${1:-}" = --uninstall ]; then
  rm -f "$program" "$bash_completion" "$zsh_completion" "$fish_completion"
  rm -f "$manual"/flowsched.1 "$manual"/flowsched-*.1
  exit
fi

binary=${1:?usage: scripts/install.sh BINARY | --uninstall}
install -D -m 755 "$binary" "$program"

# Writes what the program prints for these arguments to the file that is named first.
print_to() {
  local file=$1
  shift
  mkdir -p "$(dirname "$file")"
  "$binary" "$@" > "$file"
  chmod 644 "$file"
}

print_to "$bash_completion" completions bash
print_to "$zsh_completion" completions zsh
print_to "$fish_completion" completions fish
print_to "$manual/flowsched.1" man
# A page for every command that the first page refers to.
grep -o 'flowsched\\-[a-z]*(1)' "$manual/flowsched.1" | sed 's/.*\\-\(.*\)(1)/\1/' | sort -u |
  while read -r command; do
    if [ "$command" != help ]; then
      print_to "$manual/flowsched-$command.1" man "$command"
    fi
  done

echo "Installed $program with completions and manual pages."
case ":$PATH:" in
  *":$prefix/bin:"*) ;;
  *) echo "$prefix/bin is not on your PATH: add it, or install with another PREFIX." ;;
esac
