// Compiles the kernel files of a test's source file as one, because nvcc spends most of its time on its own headers.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/check.h"

namespace roofwalk::test {

// A kernel file's place in a joint one.
struct JointKernel {
  std::shared_ptr<const std::string> text;  // the joint file, whose SOLVE has one more parameter, an int
  int number = 0;                           // the argument for that parameter

  // Returns the namespace of the file's kernels.
  std::string space() const { return fmt::format("of_{}", number); }
};

namespace joint {

// Kernel files of one source file whose SOLVEs have parameters of the same types.
struct Group {
  std::vector<std::string> types;  // "const float*"
  std::vector<std::string> files;
  std::shared_ptr<const std::string> text;  // empty until one of them is looked for
};

struct Place {
  Group* group = nullptr;
  JointKernel kernel;
};

inline std::map<std::string, Group>& groups() {
  static std::map<std::string, Group> groups;
  return groups;
}

inline std::map<std::string, Place, std::less<>>& places() {
  static std::map<std::string, Place, std::less<>> places;
  return places;
}

// Returns the types of the parameters of a file's SOLVE.
inline std::vector<std::string> types_of(std::string_view text) {
  const std::size_t from = text.rfind("SOLVE(") + 6;
  ROOFWALK_CHECK(from < text.size());
  std::string_view parameters = text.substr(from, text.find(')', from) - from);
  std::vector<std::string> types;
  while (!parameters.empty()) {
    const std::string_view one = parameters.substr(0, parameters.find(','));
    std::string_view type = one.substr(0, one.find_last_of(" *&") + 1);
    type.remove_prefix(std::min(type.find_first_not_of(' '), type.size()));
    type = type.substr(0, type.find_last_not_of(' ') + 1);
    types.emplace_back(type);
    parameters.remove_prefix(std::min(one.size() + 1, parameters.size()));
  }
  return types;
}

struct Added {
  const char* source_file;
  std::string text;
};

inline const std::string& add(Added added) {
  auto [source_file, text] = std::move(added);
  const auto [place, is_new] = places().try_emplace(std::move(text));
  if (!is_new) return place->first;
  const std::vector<std::string> types = types_of(place->first);
  Group& group = groups()[fmt::format("{}\n{}", source_file, fmt::join(types, "\n"))];
  ROOFWALK_CHECK(group.text == nullptr);
  place->second = {&group, {nullptr, static_cast<int>(group.files.size())}};
  group.types = types;
  group.files.push_back(place->first);
  return place->first;
}

// Each file gets a namespace and keeps the numbers of its lines; its `#include` lines move to the top, and its macros
// end with it.
inline std::string text_of_group(const Group& group) {
  std::string top = "#include <roofwalk.cuh>\n", files, calls;
  std::vector<std::string> parameters, names;
  for (const std::string& type : group.types) {
    names.push_back(fmt::format("p{}", names.size()));
    parameters.push_back(type + " " + names.back());
  }
  parameters.emplace_back("int number");
  for (std::size_t i = 0; i < group.files.size(); ++i) {
    const std::string& text = group.files[i];
    std::string ends;
    files += fmt::format("namespace of_{} {{\n#line 1\n", i);
    for (std::size_t at = 0; at < text.size();) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      at += line.size() + 1;
      const bool is_include = line.starts_with("#include");
      if (is_include && top.find(line) == std::string::npos) top += line + "\n";
      if (line.starts_with("#define "))
        ends += fmt::format("#undef {}\n", line.substr(8, line.find_first_of(" (", 8) - 8));
      files += (is_include ? "" : line) + "\n";
    }
    files += "}\n" + ends;
    calls += fmt::format("  if (number == {0}) of_{0}::solve({1});\n", i, fmt::join(names, ", "));
  }
  return fmt::format(
      "{}#undef SOLVE\n#define SOLVE(...) __device__ __forceinline__ void solve(__VA_ARGS__)\n{}"
      "extern \"C\" __global__ void solve({}) {{\n{}}}\n",
      top, files, fmt::join(parameters, ", "), calls);
}

// Adds what a lambda returns before main() runs.
template <class Lambda>
struct BeforeMain {
  inline static const std::string& text = add(Lambda{}());
};

}  // namespace joint

// Adds kernel files to the joint ones of the calling source file. From then on find_joint() finds each of them. Returns
// true, so that a suite can call this before its tests: `const bool kJoined = join(...)`.
inline bool join(const std::vector<std::string>& texts,
                 const std::source_location& from = std::source_location::current()) {
  for (const std::string& text : texts) joint::add({from.file_name(), text});
  return true;
}

// Adds one file, and returns its text.
inline const std::string& joined(std::string text, const std::source_location& from = std::source_location::current()) {
  return joint::add({from.file_name(), std::move(text)});
}

// Returns the text of each element.
template <class T, std::size_t count, class Text>
std::vector<std::string> map_to_text(const T (&elements)[count], const Text& text) {
  std::vector<std::string> texts;
  for (const T& each : elements) texts.push_back(text(each));
  return texts;
}

// Returns a file's place in the joint one; nullptr if it was not added, or is the only one of its kind.
inline const JointKernel* find_joint(const std::string& text) {
  const auto found = joint::places().find(text);
  if (found == joint::places().end()) return nullptr;
  auto& [group, kernel] = found->second;
  if (group->files.size() == 1) return nullptr;
  if (group->text == nullptr) group->text = std::make_shared<const std::string>(joint::text_of_group(*group));
  kernel.text = group->text;
  return &kernel;
}

}  // namespace roofwalk::test

// A kernel file inside a test, added to the joint ones of its source file: JOINT(R"(...)"). The argument may name
// constants, and functions that need no initialization.
#define JOINT(...)                                                                       \
  (::roofwalk::test::joint::BeforeMain<decltype([]() -> ::roofwalk::test::joint::Added { \
    return {__FILE__, __VA_ARGS__};                                                      \
  })>::text)
