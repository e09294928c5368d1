#include "common/build/files.h"

#include <fstream>

namespace roofwalk {

std::optional<std::string> read_file(const std::filesystem::path& file, std::size_t max_bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  const auto size = std::filesystem::file_size(file, error);
  if (error || size > max_bytes) return std::nullopt;
  std::string bytes(size + 1, '\0');  // one extra byte, to notice if the file has grown
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in.bad() || in.gcount() > static_cast<std::streamsize>(size)) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

bool write_file(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return !out.fail();
}

}  // namespace roofwalk
