// Compiles several kernel files as one, because nvcc spends most of its time on its own headers.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
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

inline std::map<std::string, JointKernel, std::less<>>& all() {
  static std::map<std::string, JointKernel, std::less<>> kernels;
  return kernels;
}

// Returns the parameters of a file's SOLVE: "float* c, int n".
inline std::string parameters_of(std::string_view text) {
  const std::size_t from = text.rfind("SOLVE(") + 6;
  ROOFWALK_CHECK(from < text.size());
  return std::string(text.substr(from, text.find(')', from) - from));
}

// Returns the parameters' names: "c, n".
inline std::string names_of(std::string_view parameters) {
  std::string names;
  while (!parameters.empty()) {
    const std::string_view one = parameters.substr(0, parameters.find(','));
    names.append(names.empty() ? "" : ", ").append(one.substr(one.find_last_of(" *&") + 1));
    parameters.remove_prefix(std::min(one.size() + 1, parameters.size()));
  }
  return names;
}

}  // namespace joint

// Joins kernel files whose SOLVEs have the same parameters. Each file gets a namespace and keeps the numbers of its
// lines; its `#include` lines move to the top. From then on find_joint() finds each of them. Returns true, so that a
// suite can call this before its tests: `const bool kJoined = join(...)`.
inline bool join(const std::vector<std::string>& texts) {
  std::string top = "#include <roofwalk.cuh>\n", files, calls;
  const std::string parameters = joint::parameters_of(texts.front());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ROOFWALK_CHECK(joint::parameters_of(texts[i]) == parameters);
    files += fmt::format("namespace of_{} {{\n#line 1\n", i);
    for (std::size_t at = 0; at < texts[i].size();) {
      const std::string line = texts[i].substr(at, texts[i].find('\n', at) - at);
      at += line.size() + 1;
      const bool is_include = line.starts_with("#include");
      if (is_include && top.find(line) == std::string::npos) top += line + "\n";
      files += (is_include ? "" : line) + "\n";
    }
    files += "}\n";
    calls += fmt::format("  if (number == {0}) of_{0}::solve({1});\n", i, joint::names_of(parameters));
  }
  const auto text = std::make_shared<const std::string>(
      fmt::format("{}#undef SOLVE\n#define SOLVE(...) __device__ __forceinline__ void solve(__VA_ARGS__)\n{}"
                  "extern \"C\" __global__ void solve({}, int number) {{\n{}}}\n",
                  top, files, parameters, calls));
  for (std::size_t i = 0; i < texts.size(); ++i) joint::all()[texts[i]] = {text, static_cast<int>(i)};
  return true;
}

// Returns the text of each element.
template <class T, std::size_t count, class Text>
std::vector<std::string> map_to_text(const T (&elements)[count], const Text& text) {
  std::vector<std::string> texts;
  for (const T& each : elements) texts.push_back(text(each));
  return texts;
}

// Returns a file's place in the joint one; nullptr if it was not joined.
inline const JointKernel* find_joint(const std::string& text) {
  const auto found = joint::all().find(text);
  return found == joint::all().end() ? nullptr : &found->second;
}

}  // namespace roofwalk::test
