# Makes the file system that an emulated kernel starts with. Expects `sysroot` (the folder below
# which programs and libraries are, or nothing), `machine`, `built` and `modules`.

find_in() { # name, folders -> the first of these that has it, without `sysroot`
  local name=$1 folder
  shift
  for folder in "$@"; do
    if [ -e "$sysroot$folder/$name" ]; then
      echo "$folder/$name"
      return
    fi
  done
  echo "$name is not in any of: $*" >&2
  return 1
}

program() { # name -> path
  find_in "$1" /usr/bin /bin /usr/sbin /sbin
}

library() { # name -> path
  find_in "$1" {/usr,}/lib/"$machine-linux-gnu"
}

copy() { # program or library, image's tree, path in it: with what it is linked to
  local file=$1 tree=$2 path=$3 name
  if [ -e "$tree$path" ]; then return; fi
  install -D "$file" "$tree$path"
  path=$(readelf -lW "$file" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
  [ -z "$path" ] || copy "$sysroot$path" "$tree" "$path"
  for name in $(readelf -dW "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    path=$(library "$name")
    copy "$sysroot$path" "$tree" "$path"
  done
}

image() { # kernel's folder, list of tests, initramfs -> that, with the tests in it
  local kernel=$1 list=$2 image=$3 tree name path version
  tree=$(mktemp -d)
  mkdir -p "$tree"/{bin,sbin,dev,proc,sys,tmp,run,etc,lib/modules,tests}
  for name in busybox ip tc ethtool nsenter unshare bash; do
    path=$(program "$name")
    copy "$sysroot$path" "$tree" "$path"
  done
  # Busybox's own shell would take its own ip for that of iproute2.
  ln -s "$(program bash)" "$tree/bin/sh"
  for name in mount cat ls sleep insmod modprobe rmmod find sysctl tr true head grep sed kill true \
    poweroff mkdir rm rmdir chmod echo tee; do
    ln -sf "$(program busybox)" "$tree/bin/$name"
  done
  # deps/live, examples/flowsched-agent, ...
  for path in "${built[@]}"; do
    name=$(basename "$(dirname "$path")")/$(basename "$path" | sed 's/-[0-9a-f]*$//')
    copy "$path" "$tree" "/tests/$name"
  done
  version=$(basename "$kernel"/lib/modules/*)
  copy_modules "$kernel" "$version" "$tree"
  {
    echo '#!/bin/sh'
    echo "modules=\"$(echo $modules)\""
    cat "$here/init.sh"
  } >"$tree/init"
  cp "$list" "$tree/tests/list.sh"
  chmod +x "$tree/init"
  (cd "$tree" && find . | cpio -o -H newc --quiet | gzip -1) >"$image"
  rm -rf "$tree"
}

copy_modules() { # kernel's folder, its version, image's tree
  local from=$1/lib/modules/$2 to=$3/lib/modules/$2
  mkdir -p "$to"
  cp -r "$from/kernel" "$to/" 2>/dev/null
  # Only the network's modules: the image is unpacked by an emulated processor.
  find "$to/kernel" -mindepth 1 -maxdepth 1 \
    ! -name net ! -name drivers ! -name lib ! -name crypto -exec rm -rf {} +
  find "$to/kernel/drivers" -mindepth 1 -maxdepth 1 ! -name net -exec rm -rf {} + 2>/dev/null || true
  cp "$from"/modules.* "$to/" 2>/dev/null || true
  find "$to" -name '*.ko.xz' -exec xz -d {} +
  # Newer packages have no lists of what is built in, which depmod warns of.
  depmod -b "$3" "$2" 2>/dev/null
}
