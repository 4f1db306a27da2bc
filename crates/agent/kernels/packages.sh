# Debian's packages of one architecture, unpacked into folders. Nothing is installed, and the
# machine's own package lists stay as they are. Expects `work` and `architecture`.

lists=$work/apt-$architecture
apt=(-o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"
  -o "Dir::State=$lists" -o "Dir::State::status=$lists/status" -o "Dir::Cache=$lists/cache"
  -o "Dir::Etc::sourcelist=$lists/sources.list" -o Dir::Etc::sourceparts=/dev/null)

# The packages of this machine's release and of the backports to the stable one, from where the
# machine has its own packages. Fails where that is no Debian archive.
list_packages() {
  local uri release key=/usr/share/keyrings/debian-archive-keyring.gpg
  read -r uri release < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' |
    grep -E '/debian/? [a-z]+$') || return 1
  [ -e "$key" ] || return 1
  mkdir -p "$lists"/lists/partial "$lists"/cache/archives/partial
  touch "$lists/status"
  printf "deb [signed-by=$key] $uri %s main\n" "$release" stable-backports >"$lists/sources.list"
  timeout 120 apt-get "${apt[@]}" update -qq 2>/dev/null || true
  [ -n "$(kernel_package newest)" ]
}

kernel_package() { # how a version begins, or "newest" -> the newest such package
  local version=$1
  [ "$version" != newest ] || version='[0-9]'
  apt-cache "${apt[@]}" search --names-only "^linux-image-$version.*-cloud-$architecture\$" |
    awk '{print $1}' | sort -V | tail -1
}

kernel() { # package -> folder with its files
  local package=$1 folder=$work/$1 part
  if [ ! -d "$folder/boot" ]; then
    mkdir -p "$folder"
    # What newer packages are made of beside: the kernel itself, and its modules.
    for part in "$package" "${package/image/binary}" "${package/image/modules}"; do
      (cd "$folder" && apt-get "${apt[@]}" download -q "$part" &&
        dpkg-deb -x ./*.deb . && rm -f ./*.deb) >/dev/null 2>&1 || true
    done
    if [ -d "$folder/usr/lib/modules" ]; then
      mkdir -p "$folder/boot"
      mv "$folder/usr/lib" "$folder/"
      mv "$folder"/lib/modules/*/vmlinuz "$folder/boot/vmlinuz-${package#linux-image-}"
    fi
  fi
  echo "$folder"
}

unpack() { # folder, packages: these and what they depend on, unless the folder is there
  local folder=$1 package
  shift
  [ ! -d "$folder" ] || return 0
  apt-get "${apt[@]}" install -y -qq --download-only --no-install-recommends "$@" >/dev/null
  rm -rf "$folder.part"
  mkdir "$folder.part"
  for package in "$lists"/cache/archives/*.deb; do dpkg-deb -x "$package" "$folder.part"; done
  mv "$folder.part" "$folder"
}
