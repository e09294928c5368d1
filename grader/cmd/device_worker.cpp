// roofwalk device-worker: the process that a device lives in (common/device/remote). The program starts it for itself;
// no help names it.
#include "common/device/cuda/open_cuda.h"
#include "common/device/remote/worker.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

int serve(const Session& session) {
  if (!is_worker()) {
    throw Failure{
        {.message = "`device-worker` is started by the program itself, to run kernels in a process of their own",
         .advice = "`./roofwalk run NAME` runs yours"},
        kUsage};
  }
  return serve_device([&]() -> Result<std::unique_ptr<Device>> {
    const auto ordinal = cuda_ordinal(session.options.device);
    if (!ordinal) return open_device(session.options.device);
    const auto toolkit = find_toolkit(find_root());
    return open_cuda(*ordinal, toolkit ? std::optional<Toolkit>(*toolkit) : std::nullopt);
  });
}

}  // namespace

void add_device_worker_command(CLI::App& app, Session& session, int& exit_code) {
  auto* command = app.add_subcommand("device-worker", "Serve a device to the program that started this");
  command->group("");  // in no list
  command->callback([&] { exit_code = serve(session); });
}

}  // namespace roofwalk
