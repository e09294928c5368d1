# Sourced by ./roofwalk for the verb `book`: compares the book's pages with the program's output and then builds the
# site. Uses root, build, state, program_sources, say, stop and the build functions of ./roofwalk, and the functions of
# setup.sh and waiting.sh.

book_requirements=$root/tools/book-requirements.txt
site=$root/build/book

book_usage() {
  cat <<'END'
Build the book as a site, or check its pages against the program
Usage: roofwalk book [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --check                     compare every output, figure and excerpt with the program; build nothing
  --rewrite                   rewrite what differs (read the diff before you commit it)

The site is in build/book and needs no network. What is missing (Sphinx, from PyPI) is installed into .venv.
END
}

generator_is_there() {
  [[ -x $venv/bin/sphinx-build ]] && cmp -s "$book_requirements" "$venv/book-requirements.txt"
}

# Asks whether to install the generator. Sets `packages` to the missing apt packages that a .venv needs.
ask_for_generator() {
  local also='' text="  Sphinx and what it needs: wheels from PyPI into .venv, 21 MB to fetch, 120 MB of disk"$'\n'
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    stop 3 "the book needs Python 3.11 or later, as Debian 12 and Ubuntu 24.04 have it"
  if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    packages=(python3-venv ca-certificates)
    need_root
    also="the apt packages ${packages[*]}"
    text+="  $also"$'\n'
  fi
  ask "$text" "Sphinx and what it needs (21 MB to fetch)${also:+, and $also}" "it takes 120 MB in .venv" ''
}

install_generator() {
  if generator_is_there; then return; fi  # another call has installed it
  : >"$install_log" || stop 3 "cannot write $install_log: free some space or check the folder's owner"
  if ((${#packages[@]})); then install_packages; fi
  say "installing the book's generator into .venv ..."
  # A .venv with a working pip may contain the CUDA toolkit, so it is kept.
  "$venv/bin/python" -m pip --version >>"$install_log" 2>&1 || make_venv
  install_wheels "the book's generator" "$book_requirements"
  cp "$book_requirements" "$venv/book-requirements.txt" ||
    stop 3 "cannot write in $venv: free some space or check its owner"
}

# Compares all pages of book/ with the program. (The lessons in chapters/ are compared by `dev check`.) Fails if a page
# differs.
compare_pages() {
  local -a pages=()
  mapfile -t pages < <(cd "$root" && printf '%s\n' book/*.md)
  say "comparing ${#pages[@]} pages with the program (a minute or two, when something changed) ..."
  "$build/book/truth/book_truth" "$@" "${pages[@]}" >&2
}

build_site() {
  local log=$state/book.log
  if ! "$venv/bin/sphinx-build" -q -n -W --keep-going -E -c "$root/book/site" -d "$state/book" "$root" "$site.new" \
    >"$log" 2>&1; then
    head -n 20 "$log" >&2
    stop 3 "the book could not be built (log: $log)"
  fi
  rm -rf "$site" && mv "$site.new" "$site" || stop 3 "cannot write $site: free some space or check its owner"
  printf 'book: %s\n' "$site/index.html"
}

make_book() {
  local option
  local -a packages=() how=() truth_sources=("${program_sources[@]}" "$root"/{book/truth,tests/support})
  local only_compare= differs=0
  for option in "$@"; do
    case $option in
      --check) only_compare=1 ;;
      --rewrite) how=(--rewrite) ;;
      --help | -h) book_usage; exit 0 ;;
      *) stop 2 "book takes --check and --rewrite, not '$option' (\`./roofwalk book --help\`)" ;;
    esac
  done
  if [[ -z $only_compare ]]; then  # asks for missing packages before waiting for anything
    . "$root/tools/setup.sh"
    if ! generator_is_there; then
      ask_for_generator
      locked install_generator
    fi
  fi
  build_holds book_truth "${truth_sources[@]}" || locked build_target book_truth "${truth_sources[@]}"
  compare_pages ${how[@]+"${how[@]}"} || differs=1
  if [[ -n $only_compare ]]; then return "$differs"; fi
  rm -rf "$site.new"
  locked build_site
  if ((differs)); then stop 1 "the site shows pages that differ from the program (above): another toolkit, or a mistake"; fi
}
