#!/usr/bin/env bash
# site_test.sh PROJECT FOLDER: builds the book as a site in FOLDER. Every page must build without a warning and open in
# Chromium without a network. Exits with 4 if the site generator or the browser is missing.
set -euo pipefail
project=$1 folder=$2
generator=$project/.venv/bin/sphinx-build
if [[ ! -x $generator ]]; then
  echo "skipped: the book's generator is not installed (\`./roofwalk book\` does it)"
  exit 4
fi
rm -rf "$folder"
mkdir -p "$folder"
"$generator" -q -n -W --keep-going -E -c "$project/book/site" -d "$folder/doctrees" "$project" "$folder/site"
exec python3 "$project/book/site/browse.py" "$folder/site"
