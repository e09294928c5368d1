#include "common/vgpu/exec/thread_team.h"

#include <system_error>
#include <utility>

namespace roofwalk::vgpu {
namespace {

constexpr int kWatches = 100'000;  // spins before sleeping; takes about 50 microseconds

// Returns once `value` differs from `old`. Spins without the processor's `pause` instruction: a hypervisor takes
// `pause` as a sign that it may give the processor away, and does so for far longer than a piece of work takes.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < kWatches; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

Team::Team(int members) {
  try {
    for (int member = 1; member < members; ++member) threads_.emplace_back([this, member] { serve(member); });
  } catch (const std::system_error&) {
    // The system gives no more threads: those created so far do all the work.
  }
}

Team::~Team() {
  work_ = nullptr;
  pieces_.fetch_add(1, std::memory_order_release);
  pieces_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::serve(int member) {
  for (std::uint32_t seen = 0;; ++seen) {
    wait_for_change(pieces_, seen);
    if (work_ == nullptr) return;
    do_piece(member);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

void Team::do_piece(int member) {
  try {
    (*work_)(member);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    trouble_ = std::current_exception();
  }
}

void Team::run(const std::function<void(int)>& work) {
  work_ = &work;
  busy_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
  pieces_.fetch_add(1, std::memory_order_release);
  pieces_.notify_all();
  do_piece(0);
  for (std::uint32_t left; (left = busy_.load(std::memory_order_acquire)) != 0;) wait_for_change(busy_, left);
  if (trouble_) std::rethrow_exception(std::exchange(trouble_, nullptr));
}

}  // namespace roofwalk::vgpu
