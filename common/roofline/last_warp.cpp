#include "common/roofline/last_warp.h"

#include <fmt/format.h>

#include <string_view>

namespace roofwalk {
namespace {

// Wait ids that share one text.
struct LastWarp {
  std::string_view ids, words;  // the text stands before "line N"
};
constexpr LastWarp kLastWarps[] = {{"dram l2 l1", "waits for the loads of "},
                                   {"shared", "waits for shared memory at "},
                                   {"bank_conflict", "waits for bank conflicts at "},
                                   {"constant", "waits for constant memory at "},
                                   {"dependency pipe", "waits for its own results at "},
                                   {"issued issue", "works at "}};

// Returns the kind of wait with the largest share, and its line; nullptr if unknown.
const LastWarp* kind_of(const std::vector<DiagnosisInput::Waiting::Part>& parts, int& line) {
  const LastWarp* found = nullptr;
  double most = 0;
  for (const LastWarp& kind : kLastWarps) {
    double all = 0, most_of_line = 0;
    int at = 0;
    for (const auto& part : parts) {
      if (kind.ids.find(part.id) == std::string_view::npos) continue;
      all += part.share;
      if (part.line > 0 && part.share > most_of_line) most_of_line = part.share, at = part.line;
    }
    if (all > most && at > 0) most = all, found = &kind, line = at;
  }
  return found;
}

}  // namespace

std::string last_warp_words(const std::vector<DiagnosisInput::Waiting::Part>& parts) {
  int line = 0;
  const LastWarp* kind = kind_of(parts, line);
  return kind == nullptr ? "" : fmt::format("{}line {}", kind->words, line);
}

bool waits_for_loads(const std::vector<DiagnosisInput::Waiting::Part>& parts) {
  int line = 0;
  return kind_of(parts, line) == std::begin(kLastWarps);
}

}  // namespace roofwalk
