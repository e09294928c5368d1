#include "tests/tidy/repository.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "common/base/pattern.h"
#include "common/base/subprocess.h"

namespace roofwalk::tidy {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_that_git_knows() {
  const auto listing = run_command({.arguments = {"git", "-C", source_root().string(), "ls-files", "-z", "--cached",
                                                  "--others", "--exclude-standard"},
                                    .max_output_bytes = 16 << 20});
  std::vector<fs::path> files;
  if (!listing || listing->exit_code != 0) return files;
  std::istringstream names(listing->output);
  for (std::string name; std::getline(names, name, '\0');) files.emplace_back(name);
  return files;
}

std::vector<fs::path> files_on_disk() {
  static const std::set<std::string> kNotOurs = {".git", "build", ".venv", ".cache", "my"};
  std::vector<fs::path> files;
  for (auto entry = fs::recursive_directory_iterator(source_root()); entry != fs::end(entry); ++entry) {
    if (entry.depth() == 0 && kNotOurs.contains(entry->path().filename())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      files.push_back(fs::relative(entry->path(), source_root()));
    }
  }
  return files;
}

const std::vector<fs::path>& all_files() {
  static const std::vector<fs::path> files = [] {
    std::vector<fs::path> found = files_that_git_knows();
    if (found.empty()) found = files_on_disk();
    // Deleted but not yet committed: git still lists it.
    std::erase_if(found, [](const fs::path& file) { return !fs::exists(source_root() / file); });
    std::sort(found.begin(), found.end());
    return found;
  }();
  return files;
}

// The words after USES in each roofwalk_layer(...) of a CMakeLists.txt.
void read_layers(const std::string& cmake, std::map<std::string, std::set<std::string>>& uses) {
  static const Pattern kCall(R"(roofwalk_layer\(\s*([\w/]+)([^)]*)\))");
  for (const Pattern::Groups& call : kCall.search_all(cmake)) {
    std::istringstream words(call[2]);
    std::set<std::string>& layer = uses[call[1]];
    bool in_uses = false;
    for (std::string word; words >> word;) {
      if (word == "USES" || word == "SOURCES" || word == "LINKS" || word == "OWN_HEADERS") {
        in_uses = word == "USES";
      } else if (in_uses) {
        layer.insert(word);
      }
    }
  }
}

// What stands in raw strings is no code of this file: kernels in tests. Lines stay where they are.
std::string without_raw_strings(std::string text) {
  for (std::size_t at = 0; (at = text.find("R\"(", at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find(")\"", at), text.size());
    for (; at < end; ++at) {
      if (text[at] != '\n') text[at] = ' ';
    }
  }
  return text;
}

}  // namespace

fs::path source_root() { return ROOFWALK_SOURCE_DIR; }

std::vector<fs::path> files_below(const std::string& folder) {
  if (folder.empty()) return all_files();
  std::vector<fs::path> files;
  for (const fs::path& file : all_files()) {
    if (file.string().starts_with(folder + "/")) files.push_back(file);
  }
  return files;
}

bool is_cpp(const fs::path& file) { return file.extension() == ".cpp" || file.extension() == ".h"; }

std::string text_of(const fs::path& file) {
  std::ifstream stream(source_root() / file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<Include> includes_in(const std::string& text) {
  static const Pattern kInclude(R"re(^\s*#\s*include\s*["<]([^">]+)[">])re");
  std::vector<Include> includes;
  std::istringstream lines(without_raw_strings(text));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find("include") == std::string::npos) continue;
    if (const auto match = kInclude.search(line)) includes.push_back({number, (*match)[1]});
  }
  return includes;
}

std::map<std::string, std::set<std::string>> reachable_layers() {
  std::map<std::string, std::set<std::string>> reachable;
  for (const fs::path& file : files_below("common")) {
    if (file.filename() == "CMakeLists.txt") read_layers(text_of(file), reachable);
  }
  for (auto& [name, layers] : reachable) layers.insert(name);
  for (bool grew = true; grew;) {
    grew = false;
    for (auto& [name, layers] : reachable) {
      const std::size_t before = layers.size();
      for (const std::string& used : std::set<std::string>(layers)) {
        if (const auto found = reachable.find(used); found != reachable.end()) {
          layers.insert(found->second.begin(), found->second.end());
        }
      }
      grew = grew || layers.size() != before;
    }
  }
  return reachable;
}

std::string layer_of(const fs::path& file) {
  static const auto layers = reachable_layers();
  auto part = file.begin();
  if (part == file.end() || *part++ != "common" || part == file.end()) return {};
  const std::string outer = part->string();
  if (++part == file.end()) return {};  // a file directly in common/ belongs to no layer
  const std::string wing = outer + "/" + part->string();
  return layers.contains(wing) ? wing : outer;
}

}  // namespace roofwalk::tidy
