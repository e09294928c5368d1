// book_truth [--rewrite] PAGE...: checks that each page shows what its commands print and its files contain.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "book/truth/check.h"
#include "book/truth/links.h"

namespace {

namespace fs = std::filesystem;
using namespace roofwalk;
using namespace roofwalk::book;

struct Outcome {
  int differences = 0;
  bool is_trouble = false;  // the page cannot be checked
};

Outcome visit(const Place& place, const std::string& name, bool rewrite) {
  const auto trouble = [&](const Error& error) {
    fmt::print("{}:{}: {}\n", name, error.line, error.message);
    return Outcome{0, true};
  };
  std::ifstream in(place.root / name, std::ios::binary);
  if (!in) return trouble({"there is no such page"});
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto page = parse_page(text);
  if (!page) return trouble(page.error());
  const auto outputs = run_page(place, name, *page);
  if (!outputs) return trouble(outputs.error());
  const auto checked = check_page((place.root / name).parent_path(), text, *page, *outputs);
  if (!checked) return trouble(checked.error());
  for (const Difference& difference : checked->differences) {
    fmt::print("{}:{}: {}\n", name, difference.line, difference.what);
  }
  const auto for_people = std::count_if(checked->differences.begin(), checked->differences.end(),
                                        [](const Difference& difference) { return difference.is_for_people; });
  if (rewrite && static_cast<std::ptrdiff_t>(checked->differences.size()) > for_people) {
    std::ofstream(place.root / name, std::ios::binary) << checked->text;
    for (const auto& [image, picture] : checked->pictures) {
      const fs::path file = (place.root / name).parent_path() / image;
      fs::create_directories(file.parent_path());
      std::ofstream(file, std::ios::binary) << picture;
    }
    fmt::print("{}: written anew; read the diff\n", name);
    return {static_cast<int>(for_people), false};
  }
  return {static_cast<int>(checked->differences.size()), false};
}

}  // namespace

int main(int argc, char** argv) {
  const Place place{ROOFWALK_SOURCE_DIR, BOOK_PROGRAM, BOOK_CACHE};
  bool rewrite = std::getenv("ROOFWALK_REWRITE") != nullptr;
  int pages = 0, failed = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--rewrite") == 0) {
      rewrite = true;
      continue;
    }
    ++pages;
    const Outcome outcome = visit(place, argv[i], rewrite);
    failed += outcome.is_trouble || outcome.differences > 0 ? 1 : 0;
    std::fflush(stdout);
  }
  if (pages == 0) {
    std::fputs("book_truth [--rewrite] PAGE...: pages by their paths in the project\n", stderr);
    return 2;
  }
  if (failed > 0) fmt::print("{} of {} pages differ; `./roofwalk book --rewrite` writes them anew\n", failed, pages);
  return failed > 0 ? 1 : 0;
}
