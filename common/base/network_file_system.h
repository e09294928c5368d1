// File systems that several machines share. Locks, databases and new files behave differently there.
#pragma once

#include <cstdint>
#include <filesystem>

namespace roofwalk {

// The file system's name if statfs(2)'s f_type is that of one that machines share, such as "NFS"; otherwise nullptr.
// Numbers: linux/magic.h and the file systems' own sources.
const char* network_file_system(std::uint64_t statfs_type);

// The same for the file system on which the path lies. nullptr also if there is no such path.
const char* network_file_system(const std::filesystem::path& path);

}  // namespace roofwalk
