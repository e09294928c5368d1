// The repository for the tidy tests: its files, their lines, and the layers declared in CMake.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace roofwalk::tidy {

// Returns the project's root folder.
std::filesystem::path source_root();

// Returns the paths of all project files below `folder`, relative to the root: files that git tracks or would track. In
// a copy without git, these are all files except build results and the learner's files.
std::vector<std::filesystem::path> files_below(const std::string& folder = {});

bool is_cpp(const std::filesystem::path& file);

std::string text_of(const std::filesystem::path& file);

struct Include {
  int line = 0;
  std::string name;  // the name between the quotes or brackets
};
std::vector<Include> includes_in(const std::string& text);

// Returns all layers that each layer of common/ and grader/ may include: itself and, transitively, the layers after
// USES in its roofwalk_layer(...).
std::map<std::string, std::set<std::string>> reachable_layers();

// Returns the layer of a file, declared by the CMakeLists.txt of its folder or the nearest one above: "vgpu/memory" for
// "common/vgpu/memory/l2_cache.h", "exports" for "grader/class/exports/csv.h". Returns "" if there is none.
std::string layer_of(const std::filesystem::path& file);

}  // namespace roofwalk::tidy
