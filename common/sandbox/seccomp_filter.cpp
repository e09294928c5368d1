#include "common/sandbox/seccomp_filter.h"

#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "common/base/child.h"

namespace roofwalk {
namespace {

// Calls for access to other processes; keys that outlive the box; large or new kernel interfaces; mounts and
// namespaces; modules.
constexpr int kForbidden[] = {SCMP_SYS(ptrace),
                              SCMP_SYS(process_vm_readv),
                              SCMP_SYS(process_vm_writev),
                              SCMP_SYS(keyctl),
                              SCMP_SYS(add_key),
                              SCMP_SYS(request_key),
                              SCMP_SYS(io_uring_setup),
                              SCMP_SYS(io_uring_enter),
                              SCMP_SYS(io_uring_register),
                              SCMP_SYS(userfaultfd),
                              SCMP_SYS(bpf),
                              SCMP_SYS(perf_event_open),
                              SCMP_SYS(mount),
                              SCMP_SYS(umount2),
                              SCMP_SYS(unshare),
                              SCMP_SYS(setns),
                              SCMP_SYS(pivot_root),
                              SCMP_SYS(chroot),
                              SCMP_SYS(open_tree),
                              SCMP_SYS(move_mount),
                              SCMP_SYS(fsopen),
                              SCMP_SYS(fsconfig),
                              SCMP_SYS(fsmount),
                              SCMP_SYS(fspick),
                              SCMP_SYS(mount_setattr),
                              SCMP_SYS(kexec_load),
                              SCMP_SYS(kexec_file_load),
                              SCMP_SYS(init_module),
                              SCMP_SYS(finit_module),
                              SCMP_SYS(delete_module),
                              SCMP_SYS(personality),
                              SCMP_SYS(pidfd_getfd),
                              SCMP_SYS(name_to_handle_at),
                              SCMP_SYS(open_by_handle_at)};

// Replaces the library's macros, which leave fields uninitialized; some compilers reject that.
scmp_arg_cmp of_argument(unsigned index, scmp_compare operation, scmp_datum_t value, scmp_datum_t masked = 0) {
  return {.arg = index, .op = operation, .datum_a = value, .datum_b = masked};
}

Error cannot(int code) {
  return {.message = std::string("cannot make the filter of system calls: ") + std::strerror(-code)};
}

}  // namespace

Result<std::string> system_call_filter() {
  const std::unique_ptr<void, void (*)(void*)> filter(seccomp_init(SCMP_ACT_ALLOW), seccomp_release);
  if (!filter) return cannot(-ENOMEM);
  int failed = 0;
  const auto add = [&](std::uint32_t action, int call, auto... conditions) {
    const int code = seccomp_rule_add(filter.get(), action, call, sizeof...(conditions), conditions...);
    if (code != 0 && failed == 0) failed = code;
  };
  for (const int call : kForbidden) add(SCMP_ACT_ERRNO(EPERM), call);
  add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), of_argument(0, SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER));
  add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));  // the C library then uses clone instead, whose flags can be checked
  add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), of_argument(1, SCMP_CMP_MASKED_EQ, 0xffffffffu, TIOCSTI));
  add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), of_argument(1, SCMP_CMP_MASKED_EQ, 0xffffffffu, TIOCLINUX));
  // Only local sockets: a network namespace does not stop every other family. AF_VSOCK, for example, reaches the host
  // of a virtual machine.
  add(SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), of_argument(0, SCMP_CMP_NE, AF_UNIX));
  if (failed != 0) return cannot(failed);

  const Descriptor file(::memfd_create("roofwalk-filter", MFD_CLOEXEC));
  if (file.get() < 0) return cannot(-errno);
  if (const int code = seccomp_export_bpf(filter.get(), file.get()); code != 0) return cannot(code);
  std::string bytes(static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
  if (::pread(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return cannot(-EIO);
  return bytes;
}

}  // namespace roofwalk
