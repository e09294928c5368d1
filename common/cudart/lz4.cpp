#include "common/cudart/lz4.h"

namespace roofwalk::cudart {
namespace {

class Lz4Reader {
 public:
  explicit Lz4Reader(std::string_view block) : rest_(block) {}

  bool at_end() const { return rest_.empty(); }
  std::optional<std::size_t> byte() {
    if (rest_.empty()) return std::nullopt;
    const auto value = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  // A length of four bits; 15 means that bytes follow which add to it, up to one that is not 255.
  std::optional<std::size_t> length(std::size_t four_bits) {
    std::size_t sum = four_bits;
    for (std::size_t more = four_bits == 15 ? 255 : 0; more == 255;) {
      const auto next = byte();
      if (!next) return std::nullopt;
      sum += more = *next;
    }
    return sum;
  }
  std::optional<std::string_view> take(std::size_t bytes) {
    if (bytes > rest_.size()) return std::nullopt;
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::optional<std::string> unpacked_lz4(std::string_view block, std::size_t full_bytes) {
  Lz4Reader in(block);
  std::string out;
  out.reserve(full_bytes);
  while (const auto token = in.byte()) {
    const auto literals = in.length(*token >> 4);
    const auto text = literals ? in.take(*literals) : std::nullopt;
    if (!text || text->size() > full_bytes - out.size()) return std::nullopt;
    out += *text;
    if (in.at_end()) break;  // the last sequence has literals alone
    const auto low = in.byte(), high = in.byte();
    const auto more = in.length(*token & 15);
    if (!low || !high || !more) return std::nullopt;
    constexpr std::size_t kLeastMatch = 4;
    const std::size_t distance = *low | *high << 8, count = *more + kLeastMatch;
    if (distance == 0 || distance > out.size() || count > full_bytes - out.size()) return std::nullopt;
    for (std::size_t i = 0; i < count; ++i) out += out[out.size() - distance];
  }
  if (out.size() != full_bytes) return std::nullopt;
  return out;
}

}  // namespace roofwalk::cudart
