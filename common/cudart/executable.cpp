#include "common/cudart/executable.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace roofwalk::cudart {
namespace {

constexpr std::uint64_t kMostTableBytes = 64u << 20;

std::string bytes_of(std::ifstream& file, std::uint64_t offset, std::uint64_t size_bytes) {
  if (size_bytes > kMostTableBytes) return {};
  std::string bytes(size_bytes, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(size_bytes));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

// The libraries that a program asks the loader for.
std::vector<std::string> needed(const std::string& entries, const std::string& strings) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= entries.size(); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, entries.data() + at, sizeof entry);
    if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < strings.size())
      names.emplace_back(strings.c_str() + entry.d_un.d_val);
  }
  return names;
}

bool is_library_of_nvidia(const std::string& name) {
  constexpr const char* kNames[] = {"libcublas",   "libcudnn", "libcufft", "libcurand", "libcusolver",
                                    "libcusparse", "libnccl",  "libnpp",   "libnvjpeg", "libcutensor"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* known) { return name.starts_with(known); });
}

}  // namespace

Executable look_at_executable(const std::filesystem::path& path) {
  Executable found;
  std::ifstream file(path, std::ios::binary);
  const std::string head = bytes_of(file, 0, sizeof(Elf64_Ehdr));
  if (head.size() < sizeof(Elf64_Ehdr) || !head.starts_with(ELFMAG) || head[EI_CLASS] != ELFCLASS64) return found;
  found.is_elf = true;
  Elf64_Ehdr header;
  std::memcpy(&header, head.data(), sizeof header);
  const std::string table = bytes_of(file, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  std::vector<Elf64_Shdr> sections(table.size() / sizeof(Elf64_Shdr));
  if (!sections.empty()) std::memcpy(sections.data(), table.data(), sections.size() * sizeof(Elf64_Shdr));
  if (header.e_shstrndx >= sections.size()) return found;
  const Elf64_Shdr& of_names = sections[header.e_shstrndx];
  const std::string names = bytes_of(file, of_names.sh_offset, of_names.sh_size);
  std::string entries, strings;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_name >= names.size()) continue;
    const std::string name = names.c_str() + section.sh_name;
    if (name == ".nv_fatbin") found.has_device_code = true;
    if (name == ".dynstr") strings = bytes_of(file, section.sh_offset, section.sh_size);
    if (name == ".dynamic") entries = bytes_of(file, section.sh_offset, section.sh_size);
  }
  for (const std::string& name : needed(entries, strings)) {
    found.has_shared_runtime = found.has_shared_runtime || name.starts_with("libcudart.so");
    found.needs_driver = found.needs_driver || name.starts_with("libcuda.so");
    if (is_library_of_nvidia(name)) found.libraries.push_back(name);
  }
  return found;
}

}  // namespace roofwalk::cudart
