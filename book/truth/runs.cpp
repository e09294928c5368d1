#include "book/truth/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "common/base/atomic_file.h"
#include "common/base/hash.h"
#include "common/base/json.h"
#include "common/base/subprocess.h"
#include "common/build/build.h"
#include "common/exercise/chapter.h"
#include "common/plot/dark.h"
#include "tests/support/temporary_course.h"

namespace roofwalk::book {
namespace {

namespace fs = std::filesystem;

// Folders of the project that commands read. If a file in them changes, other than Markdown, pages are run again.
constexpr const char* kInputs[] = {"chapters",     "solutions",      "tests/grader/wrong",        "common/include",
                                   "common/roofs", "common/specs",   "grader/operations/kernels", "book/misleads",
                                   "book/start",   "tests/diagnosis"};

constexpr std::size_t kMostOutput = 64 << 20;  // the record of a thousand launches takes megabytes

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool is_made_by_running(const Mark& mark) {
  return mark.kind == MarkKind::run || mark.kind == MarkKind::let || mark.kind == MarkKind::figure;
}

// A hash of all that may affect a command's output, except for the commands before it.
Result<std::string> key_of(const Place& place) {
  ROOFWALK_TRY(const Toolkit toolkit, find_toolkit(place.root));
  std::string all = toolkit.version + "\n" + sha256_hex(text_of(place.program)) + "\n";
  for (const char* folder : kInputs) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(place.root / folder)) {
      if (entry.is_regular_file() && entry.path().extension() != ".md") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      all += file.lexically_relative(place.root).string() + " " + sha256_hex(text_of(file)) + "\n";
    }
  }
  return sha256_hex(all);
}

std::string key_of_page(const std::string& key, const Page& page) {
  std::string all = key + "\n";
  for (const Mark& mark : page.marks) {
    if (mark.kind == MarkKind::copy || is_made_by_running(mark)) {
      all += fmt::format("{} {}\n", static_cast<int>(mark.kind), mark.subject);
    }
  }
  return sha256_hex(all);
}

Result<std::string> typed(const Place& place, const fs::path& course, const Mark& mark) {
  Command command{.arguments = words_of(mark.subject),
                  .working_directory = course,
                  .timeout_s = 570,
                  .max_output_bytes = kMostOutput};
  command.arguments.insert(command.arguments.begin(), place.program.string());
  if (mark.kind == MarkKind::let) command.arguments.insert(command.arguments.end(), {"--format", "json"});
  ROOFWALK_TRY(const CommandResult result, run_command(command));
  if (result.timed_out || result.output_cut || result.exit_code > 1) {
    return Error{
        fmt::format("`./roofwalk {}` ends with {}: {}", mark.subject, result.exit_code, result.output.substr(0, 400)),
        "", mark.line};
  }
  return result.output;
}

// Types the command of a mark, or returns the output that it had on another page: no command before it affects the
// measurement of a kernel file.
Result<std::string> typed_once(const Place& place, const std::string& key, const fs::path& course, const Mark& mark) {
  const bool measures_file = mark.kind == MarkKind::let && mark.subject.starts_with("run ") &&
                             mark.subject.find(" --kernel ") != std::string::npos &&
                             mark.subject.find(" --save") == std::string::npos;
  if (!measures_file) return typed(place, course, mark);
  const fs::path file = place.cache / "measured" / (sha256_hex(key + "\n" + mark.subject) + ".json");
  if (std::string known = text_of(file); !known.empty()) return known;
  ROOFWALK_TRY(std::string output, typed(place, course, mark));
  (void)replace_file(file, output);  // if this fails, another page types the command again
  return output;
}

Status copied(const fs::path& course, const Mark& mark) {
  const auto names = words_of(mark.subject);
  if (names.size() != 2) return Error{"a copy is FROM TO", "", mark.line};
  std::error_code error;
  fs::create_directories((course / names[1]).parent_path(), error);
  fs::copy_file(course / names[0], course / names[1], fs::copy_options::overwrite_existing, error);
  if (error) return Error{fmt::format("cannot copy {}: {}", names[0], error.message()), "", mark.line};
  return kOk;
}

Result<Output> drawn(const fs::path& course, const Mark& mark) {
  fs::path script = course / mark.subject;
  script.replace_extension(".gp");
  const Output output{without_dark_scheme(text_of(course / mark.subject)), text_of(script)};
  if (output.text.empty() || output.script.empty()) {
    return Error{fmt::format("no command above draws {}", mark.subject), "", mark.line};
  }
  return output;
}

Result<Outputs> typed_in_order(const Place& place, const std::string& key, const Page& page) {
  const test::TemporaryCourse course(place.root, place.cache);
  fs::create_directory(course.root() / "book");
  for (const char* folder : {"book/misleads", "book/start"}) {
    fs::create_directory_symlink(place.root / folder, course.root() / folder);
  }
  fs::create_directory_symlink(place.root / "tests/diagnosis", course.root() / "tests/diagnosis");
  setenv("ROOFWALK_ROOT", course.root().c_str(), 1);
  Outputs outputs;
  for (const Mark& mark : page.marks) {
    if (mark.kind == MarkKind::copy) {
      ROOFWALK_TRY_STATUS(copied(course.root(), mark));
    } else if (mark.kind == MarkKind::figure) {
      ROOFWALK_TRY(outputs[mark.line], drawn(course.root(), mark));
    } else if (is_made_by_running(mark)) {
      ROOFWALK_TRY(outputs[mark.line].text, typed_once(place, key, course.root(), mark));
    }
  }
  return outputs;
}

// Reads the cached outputs; nullopt if they were cached under another `key`. They are stored in the order of the marks,
// not by line number, because the marks may have moved to other lines since.
std::optional<Outputs> kept(const fs::path& file, const std::string& key, const Page& page) {
  const Json json = parse_json(text_of(file));
  if (!json.is_object() || json.value("key", "") != key) return std::nullopt;
  const Json& all = json["outputs"];
  Outputs outputs;
  std::size_t next = 0;
  for (const Mark& mark : page.marks) {
    if (!is_made_by_running(mark)) continue;
    if (next == all.size() || all[next].size() != 2) return std::nullopt;
    outputs[mark.line] = {all[next][0].get<std::string>(), all[next][1].get<std::string>()};
    ++next;
  }
  return outputs;
}

void keep(const fs::path& file, const std::string& key, const Outputs& outputs) {
  Json all = Json::array();
  for (const auto& [line, output] : outputs) all.push_back({output.text, output.script});
  // If this fails, the page's commands run again next time.
  (void)replace_file(file, json_line(Json{{"key", key}, {"outputs", all}}));
}

// Returns a Markdown list of links to the lessons. The links start with ../, so the page must be in a folder directly
// below the project's root, such as book/.
Result<std::string> list_of_lessons(const fs::path& root) {
  ROOFWALK_TRY(const std::vector<Chapter> chapters, load_chapters(root));
  std::string list;
  for (const Chapter& chapter : chapters) {
    list += fmt::format("- [{}](../chapters/{}/lesson.md){}{}\n", chapter.title, chapter.folder.filename().string(),
                        chapter.summary.empty() ? "" : ": ", chapter.summary);
  }
  return list;
}

}  // namespace

Result<Outputs> run_page(const Place& place, const std::string& name, const Page& page) {
  Outputs outputs;
  const bool types = std::any_of(page.marks.begin(), page.marks.end(), [](const Mark& mark) {
    return mark.kind != MarkKind::file && mark.kind != MarkKind::lessons;
  });
  if (types) {
    ROOFWALK_TRY(const std::string key, key_of(place));
    const std::string own_key = key_of_page(key, page);
    const fs::path file = (place.cache / "pages" / name).replace_extension(".json");
    if (const auto found = kept(file, own_key, page)) {
      outputs = *found;
    } else {
      ROOFWALK_TRY(outputs, typed_in_order(place, key, page));
      keep(file, own_key, outputs);
    }
  }
  for (const Mark& mark : page.marks) {
    if (mark.kind == MarkKind::lessons) {
      ROOFWALK_TRY(outputs[mark.line].text, list_of_lessons(place.root));
    }
    if (mark.kind != MarkKind::file && mark.kind != MarkKind::holds) continue;
    if (!fs::is_regular_file(place.root / mark.subject)) {
      return Error{fmt::format("there is no file {}", mark.subject), "", mark.line};
    }
    outputs[mark.line].text = text_of(place.root / mark.subject);
  }
  return outputs;
}

}  // namespace roofwalk::book
