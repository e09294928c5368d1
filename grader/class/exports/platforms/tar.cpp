#include "grader/class/exports/platforms/tar.h"

#include <fmt/format.h>

namespace roofwalk {
namespace {

constexpr std::size_t kBlock = 512, kNameBytes = 100;

void put(std::string& header, std::size_t at, const std::string& text) { header.replace(at, text.size(), text); }

std::string tar_header(const ArchiveFile& file) {
  std::string header(kBlock, '\0');
  put(header, 0, file.name);
  put(header, 100, file.is_program ? "0000755" : "0000644");
  put(header, 108, "0000000");  // user and group
  put(header, 116, "0000000");
  put(header, 124, fmt::format("{:011o}", file.bytes.size()));
  put(header, 136, fmt::format("{:011o}", file.written_at_s));
  put(header, 148, "        ");  // the sum is taken with blanks here
  put(header, 156, "0");         // a regular file
  put(header, 257, std::string("ustar\0", 6) + "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(header, 148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

}  // namespace

Result<std::string> tar_of(const std::vector<ArchiveFile>& files) {
  std::string tar;
  for (const ArchiveFile& file : files) {
    if (file.name.size() > kNameBytes) return Error{.message = "the name is too long for a tar", .file = file.name};
    tar += tar_header(file) + file.bytes;
    tar.append((kBlock - file.bytes.size() % kBlock) % kBlock, '\0');
  }
  return tar + std::string(2 * kBlock, '\0');
}

}  // namespace roofwalk
