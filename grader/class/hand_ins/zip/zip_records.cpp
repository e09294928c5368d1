#include "grader/class/hand_ins/zip/zip_records.h"

namespace roofwalk {
namespace {

bool lies_where_it_says(std::string_view bytes, const EntryList& list, std::size_t end) {
  if (list.is_64) return stands_at(bytes, list.at, kHead);
  return list.at + list.bytes == end && (list.bytes == 0 || stands_at(bytes, list.at, kHead));
}

}  // namespace

std::uint64_t number_at(std::string_view bytes, std::uint64_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[static_cast<std::size_t>(at + i)])} << (8 * i);
  return value;
}

bool stands_at(std::string_view bytes, std::uint64_t at, std::string_view what) {
  return at <= bytes.size() && bytes.substr(static_cast<std::size_t>(at)).starts_with(what);
}

EntryList list_of(std::string_view bytes, std::size_t end) {
  const EntryList plain{number_at(bytes, end + 16, 4), number_at(bytes, end + 12, 4), number_at(bytes, end + 10, 2)};
  // If the list of entries ends directly at the end record, there is no locator: bytes before the end record that look
  // like one are part of a name.
  const bool ends_in_list = stands_at(bytes, plain.at, kHead) && plain.at + plain.bytes == end;
  if (!ends_in_list && end >= kLocatorBytes && stands_at(bytes, end - kLocatorBytes, kLocator)) {
    const std::uint64_t at = number_at(bytes, end - kLocatorBytes + 8, 8);
    if (stands_at(bytes, at, kEnd64) && at + kEnd64Bytes <= end)
      return {number_at(bytes, at + 48, 8), number_at(bytes, at + 40, 8), number_at(bytes, at + 32, 8), true};
  }
  return plain;
}

std::optional<std::size_t> end_of(std::string_view bytes) {
  constexpr std::size_t kMostBehind = 64;
  const std::size_t first = bytes.size() - std::min(bytes.size(), kEndBytes + kLongestComment + kMostBehind);
  const std::string_view tail = bytes.substr(first);
  std::optional<std::size_t> last, exact;
  if (tail.size() < kEndBytes) return last;
  for (std::size_t at = tail.rfind(kEnd, tail.size() - kEndBytes); at != std::string_view::npos;) {
    const std::uint64_t behind = at + kEndBytes + number_at(tail, at + 20, 2);
    if (behind <= tail.size() && tail.size() - behind <= kMostBehind) {
      if (lies_where_it_says(bytes, list_of(bytes, first + at), first + at)) return first + at;
      if (!last) last = first + at;
      if (!exact && behind == tail.size()) exact = first + at;
    }
    if (at == 0) break;
    at = tail.rfind(kEnd, at - 1);
  }
  return exact ? exact : last;
}

}  // namespace roofwalk
