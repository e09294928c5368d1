// Shared by the PTX tests: golden files, and small modules around a few lines.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/ptx/module.h"

namespace roofwalk::ptx::testing {

inline constexpr std::string_view kHeader = ".version 9.0\n.target sm_80\n.address_size 64\n";

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the .ptx files of a folder of golden files, by name.
inline std::vector<std::filesystem::path> golden_files(std::string_view folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(ROOFWALK_PTX_GOLDEN) / folder)) {
    if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Returns the text after `// KEY: ` in the lines of a golden file.
inline std::vector<std::string> notes(std::string_view text, std::string_view key) {
  std::vector<std::string> found;
  std::istringstream lines{std::string(text)};
  const std::string start = "// " + std::string(key) + ": ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) found.push_back(line.substr(start.size()));
  }
  return found;
}

// Returns a kernel `k` with this body, and declarations of a few registers of every width.
inline std::string kernel(std::string_view body) {
  std::string text(kHeader);
  text += ".visible .global .align 4 .u32 gvar;\n.visible .shared .align 16 .b8 svar[64];\n";
  text += ".visible .entry k(.param .u64 pp, .param .align 4 .b8 arr[12])\n{\n";
  text += ".reg .pred %p<5>; .reg .b16 %h<5>; .reg .b32 %r<9>; .reg .u32 %u<5>; .reg .s32 %s<5>; .reg .f32 %f<9>;\n";
  text += ".reg .b64 %rd<9>; .reg .f64 %d<9>;\n";
  text += body;
  text += "\nret;\n}\n";
  return text;
}

// Parses, and makes an error of the module of a function that is refused alone.
inline Result<Module> parse_whole(std::string_view text, std::string_view source_name) {
  Result<Module> module = parse(text, source_name);
  if (!module) return module;
  for (const Function& function : module->functions) {
    if (!function.unsupported) continue;
    Error error = *function.unsupported;
    if (error.line > 0) error.file = source_name;
    return error;
  }
  return module;
}

}  // namespace roofwalk::ptx::testing
