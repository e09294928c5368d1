// The requests of one SM to L2 in a round, kept until the round ends. Thanks to these logs, SMs can run in parallel
// while L2 still sees requests in a fixed order: SM by SM, each SM's requests in program order. L2 answers while the
// SMs run the next round, which does not depend on the answers.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "common/vgpu/memory/fetch_log.h"
#include "common/vgpu/memory/l2_cache.h"
#include "common/vgpu/trace/counters.h"
#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

// L2's answer to a traced request.
struct L2Answer {
  WarpTrace* trace = nullptr;
  std::uint32_t outcome = 0;  // index of the outcome in the trace
  std::uint32_t dram_read_sectors = 0, dram_write_sectors = 0, dram_pages = 0;
  Arrival arrives = Arrival::none;  // none: leaves the outcome's value unchanged
  Fetch found = {};                 // the same block's fetch of the sectors that the request found in L2;
                                    // number 0: none

  void tell() const;
};

// Written bytes of a line: one 32-bit mask per sector.
struct WrittenBytes {
  std::uint32_t of_sector[4] = {0, 0, 0, 0};
};

// Sectors that an SM loaded from L2 (`dram_read_sectors` of them missed in L2) and sectors that it stored to L2,
// without atomics.
struct SmRequests {
  std::uint64_t read_sectors = 0, dram_read_sectors = 0, write_sectors = 0;

  void add(std::uint64_t read, std::uint64_t from_dram, std::uint64_t written) {
    read_sectors += read;
    dram_read_sectors += from_dram;
    write_sectors += written;
  }
};

// How many loads and atomics of a warp went beyond L1, and how many of them DRAM served.
struct ServedLoads {
  std::uint32_t all = 0, by_dram = 0;
};

class L2Log {
 public:
  // Logs the lines of a request; end_request() then logs the request itself.
  void read(std::uint64_t line, unsigned sectors) { lines_.push_back({line, sectors & 0xfu, 0}); }
  void write(std::uint64_t line, const WrittenBytes& bytes);
  void update(std::uint64_t line, unsigned sectors) { read(line, sectors); }
  // The request's DRAM sectors are added to outcome number `outcome` of `trace`, unless `trace` is null. A request of
  // kind `arriving` asks for no sectors. It only records in `trace` whether a line that the SM fetched in this round
  // comes from L2 or DRAM.
  enum class Kind : std::uint8_t { load, store, atomic, arriving };
  void end_request(Kind kind, std::uint32_t pc, WarpTrace* trace, std::size_t outcome) {
    if (kind != Kind::arriving) asked_lines_ += lines_.size() - request_begin_;
    request_begin_ = lines_.size();
    requests_.push_back({trace, static_cast<std::uint32_t>(outcome), pc, static_cast<std::uint32_t>(lines_.size()),
                         warp_slot_, kind, is_counted_});
  }

  // Whether the log is so long that the SM must wait for the next round: long straight-line code makes many requests in
  // one turn.
  bool full() const { return lines_.size() >= kMostLines; }

  std::size_t lines() const { return lines_.size(); }
  bool empty() const { return requests_.empty(); }
  std::size_t requests() const { return requests_.size(); }
  // Sets whether requests from now on are added to the SM's SmRequests.
  void count_requests(bool counted) { is_counted_ = counted; }
  // Sets the slot, on the SM, of the warp that makes the requests from now on.
  void begin_turn(std::uint32_t warp_slot) { warp_slot_ = static_cast<std::uint16_t>(warp_slot); }
  // Number of lines logged since the log was empty, without those of `arriving` requests.
  std::uint64_t asked_lines() const { return asked_lines_; }

  // Sends all requests of SM `sm_index` to L2 and clears the log. `sites`: the launch's counters, which start at
  // `first_site` in `traffic`; `fetches`: the fetches of L2. Appends to `answers`, and adds to `sm` and, for each
  // request that DRAM served, 1 to its warp's element of `served`. Returns the number of sectors that L2 read
  // from DRAM or made dirty.
  std::uint64_t replay(L2Cache& l2, std::size_t sm_index, FetchLog& fetches, std::vector<InstructionCounters>& sites,
                       InstructionId first_site, std::vector<InstructionTraffic>& traffic,
                       std::vector<L2Answer>& answers, SmRequests& sm, std::vector<ServedLoads>& served);

 private:
  static constexpr std::size_t kMostLines = std::size_t{1} << 17;

  struct Line {
    std::uint64_t line : 59;
    std::uint64_t sectors : 4;
    std::uint64_t partial : 1;  // a store of partial sectors, whose masks are the next entry of partial_
  };
  struct Request {
    WarpTrace* trace = nullptr;
    std::uint32_t outcome = 0, pc = 0;
    std::uint32_t end = 0;  // end index of its lines in lines_
    std::uint16_t warp_slot = 0;
    Kind kind = Kind::load;
    bool is_counted = false;
  };

  // Where the replay is: the next line, the next of its partial stores, and the places in L2 of the next lines.
  static constexpr std::size_t kAhead = 8;  // how many lines ahead of the current one sets are prefetched
  struct Cursor {
    std::size_t at = 0, next_partial = 0;
    L2Cache::Place ahead[kAhead];
  };
  // What L2 did for a request, in sectors. `missed`: those asked for that L2 did not hold; `from_dram`: those that it
  // read from DRAM, opening `pages`. `newest`: the newest DRAM fetch among the lines that L2 held.
  struct Served {
    std::uint64_t read = 0, missed = 0, from_dram = 0, written = 0, dirtied = 0;
    std::uint32_t pages = 0, newest = 0;
    bool is_far = false;
  };
  Served serve(L2Cache& l2, std::size_t sm_index, const Request& request, Cursor& cursor, InstructionId id,
               std::vector<InstructionTraffic>& traffic) const;
  void clear();

  std::size_t request_begin_ = 0;  // start index of the current request's lines
  std::uint64_t asked_lines_ = 0;
  bool is_counted_ = false;
  std::uint16_t warp_slot_ = 0;
  std::vector<Line> lines_;
  std::vector<WrittenBytes> partial_;
  std::vector<Request> requests_;
};

// The logs of all SMs from one round, while L2 answers them.
class L2Round {
 public:
  // `sms`: number of SMs; `warp_slots`: number of warps that each can hold.
  L2Round(const Machine& machine, std::size_t sms, std::size_t warp_slots, L2Cache& l2, std::size_t sites,
          InstructionId first_site, std::vector<InstructionTraffic>& traffic);
  ~L2Round();

  // Begins a round, to which all logs taken from now on belong. `cycles`: see FetchLog::begin_round().
  void begin(double cycles) { began_ = cycles; }
  // Takes the log of the next SM, whose index is `sm`, and leaves the SM an empty one. Must not run while L2 answers.
  void take(L2Log& log, std::size_t sm);
  // replay_half() answers the first half of the logs, replay() all that are left; both do nothing if another thread is
  // already answering. They may run on any thread while SMs run, because they change nothing that SMs use: only L2, its
  // traffic and members of this class. The logs are answered in halves so that two threads can share the work evenly. A
  // thread that called replay_half() later calls replay(), so all logs are answered in the end.
  void replay_half();
  void replay();
  // Answers all logs that are left; no other thread may be answering.
  void replay_alone();
  // Writes L2's new answers to the traces. Returns the number of bytes by which the traces have grown.
  std::uint64_t tell_traces();

  // The counts of L2 so far, by PTX instruction.
  const std::vector<InstructionCounters>& sites() const { return sites_; }
  // By SM: the requests so far that were to be counted (L2Log::count_requests()).
  const std::vector<SmRequests>& requests() const { return requests_; }
  // What has been served for the warp in a slot of an SM. The caller sets it to 0 for the next warp. Must not be called
  // while L2 answers.
  ServedLoads& served(std::size_t sm, std::size_t warp_slot) { return served_[sm][warp_slot]; }
  // Number of sectors that L2 read from DRAM or made dirty. Must not be called while L2 answers.
  std::uint64_t dram_sectors() const { return dram_sectors_; }

 private:
  L2Cache& l2_;
  FetchLog fetches_;
  InstructionId first_site_;
  std::vector<InstructionTraffic>& traffic_;
  std::vector<InstructionCounters> sites_;
  void replay_to(std::size_t end);

  std::mutex mutex_;  // held by replay_half() and replay() while they answer
  std::vector<L2Log> logs_;
  std::vector<std::size_t> sm_of_log_;
  std::vector<SmRequests> requests_;
  std::vector<std::vector<ServedLoads>> served_;  // by SM and warp slot
  double began_ = 0;
  std::uint64_t dram_sectors_ = 0;
  std::size_t taken_ = 0, replayed_ = 0;  // how many logs were taken, and how many of them answered
  std::vector<L2Answer> answers_;
};

}  // namespace roofwalk::vgpu
