#include "common/base/network_file_system.h"

#include <linux/magic.h>
#include <sys/vfs.h>

namespace roofwalk {

const char* network_file_system(std::uint64_t statfs_type) {
  constexpr std::uint32_t kLustre = 0x0bd00bd0, kGpfs = 0x47504653;
  switch (static_cast<std::uint32_t>(statfs_type)) {
    case NFS_SUPER_MAGIC:
      return "NFS";
    case SMB_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
      return "SMB";
    case AFS_SUPER_MAGIC:
    case AFS_FS_MAGIC:
      return "AFS";
    case CEPH_SUPER_MAGIC:
      return "Ceph";
    case CODA_SUPER_MAGIC:
      return "Coda";
    case V9FS_MAGIC:
      return "9p";
    case kLustre:
      return "Lustre";
    case kGpfs:
      return "GPFS";
    case FUSE_SUPER_MAGIC:  // sshfs and several parallel file systems of clusters
      return "FUSE";
    default:
      return nullptr;
  }
}

const char* network_file_system(const std::filesystem::path& path) {
  struct statfs info {};
  return ::statfs(path.c_str(), &info) == 0 ? network_file_system(static_cast<std::uint64_t>(info.f_type)) : nullptr;
}

}  // namespace roofwalk
