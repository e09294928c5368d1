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
    // git still lists files whose deletion is not committed.
    std::erase_if(found, [](const fs::path& file) { return !fs::exists(source_root() / file); });
    std::sort(found.begin(), found.end());
    return found;
  }();
  return files;
}

struct Layer {
  std::string name;
  std::set<std::string> uses;
};

// Reads each folder's layer from the roofwalk_layer(...) of its CMakeLists.txt: its name, and the words after USES.
std::map<fs::path, Layer> read_layers() {
  static const Pattern kCall(R"(roofwalk_layer\(\s*([\w/]+)([^)]*)\))");
  std::map<fs::path, Layer> layers;
  for (const fs::path& file : all_files()) {
    if (file.filename() != "CMakeLists.txt" || (*file.begin() != "common" && *file.begin() != "grader")) continue;
    const auto call = kCall.search(text_of(file));
    if (!call) continue;
    Layer& layer = layers[file.parent_path()];
    layer.name = (*call)[1];
    std::istringstream words((*call)[2]);
    bool in_uses = false;
    for (std::string word; words >> word;) {
      if (word == "USES" || word == "SOURCES" || word == "LINKS" || word == "OWN_HEADERS") {
        in_uses = word == "USES";
      } else if (in_uses) {
        layer.uses.insert(word);
      }
    }
  }
  return layers;
}

const std::map<fs::path, Layer>& all_layers() {
  static const std::map<fs::path, Layer> layers = read_layers();
  return layers;
}

// Blanks raw strings, because they contain kernels for tests; keeps line breaks.
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
  for (const auto& [folder, layer] : all_layers()) {
    reachable[layer.name] = layer.uses;
    reachable[layer.name].insert(layer.name);
  }
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
  for (fs::path folder = file.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (const auto layer = all_layers().find(folder); layer != all_layers().end()) return layer->second.name;
  }
  return {};
}

}  // namespace roofwalk::tidy
