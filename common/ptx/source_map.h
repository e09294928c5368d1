// Finds the source line of each instruction, and of the calls through which it was inlined, from `.file` and `.loc`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/ptx/module.h"

namespace roofwalk::ptx {

// A place in `.loc`. Its numbers are untrusted.
struct Place {
  std::uint64_t file = 0;
  std::uint64_t line = 0;
  std::uint64_t column = 0;

  bool operator==(const Place&) const = default;
};

class SourceMap {
 public:
  // Handles `.file index "path"`. An index out of range is ignored; its lines stay unknown.
  void add_file(std::uint64_t index, std::string_view path);

  // Handles `.loc place [, function_name ..., inlined_at *inlined_at]`, which applies to the following instructions.
  void set_location(const Place& place, const Place* inlined_at);

  // Starts a new function: no `.loc` applies.
  void reset() { current_ = -1; }

  // Makes an earlier location current again, for a message about an instruction there.
  void restore(int location) { current_ = location; }

  // Index of the current `.loc` among the locations; -1: none.
  int current() const { return current_; }

  // Moves the tables to the module; frames in undeclared files become unknown.
  void move_to(Module& module);

 private:
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      return static_cast<std::size_t>((place.file * 0x9e3779b97f4a7c15ull ^ place.line) * 0xbf58476d1ce4e5b9ull ^
                                      place.column);
    }
  };
  int intern(const Place& place, int parent);

  std::vector<std::string> files_;
  std::vector<std::vector<SourceFrame>> locations_;
  std::unordered_map<Place, int, PlaceHash> known_;   // location by file, line and parent; `column` holds the parent
  std::unordered_map<Place, int, PlaceHash> latest_;  // the most recent location at a place
  std::size_t frames_ = 0;
  int current_ = -1;
};

// Whether `path` is `source_name` itself or ends in a folder separator and `source_name`.
bool is_source(std::string_view path, std::string_view source_name);

}  // namespace roofwalk::ptx
