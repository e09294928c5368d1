// verdict: fault, race
// All threads read the sum of what is before the block without waiting for the warp that looks back.
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cuda/atomic>
#include <roofwalk.cuh>

using Word = unsigned long long;
enum Status : unsigned { kInvalid = 0, kAggregate = 1, kPrefix = 2 };

__device__ Word pack(Status s, int v) { return (Word(s) << 32) | unsigned(v); }

template <int kThreads, int kItems>
__global__ void __launch_bounds__(kThreads)
    scan(const int* __restrict__ x, int* __restrict__ sums, Word* tiles, unsigned* ticket, int n) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } temp;
  __shared__ unsigned tile_shared;
  __shared__ int exclusive_shared;
  if (threadIdx.x == 0) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> t(*ticket);
    tile_shared = t.fetch_add(1, cuda::memory_order_relaxed);
  }
  __syncthreads();
  const unsigned tile = tile_shared;
  const long long base = (long long)tile * kThreads * kItems;
  const int valid = (int)min((long long)kThreads * kItems, n - base);
  int items[kItems];
  if (valid == kThreads * kItems)
    Load(temp.load).Load(x + base, items);
  else
    Load(temp.load).Load(x + base, items, valid, 0);
  __syncthreads();
  int total;
  Scan(temp.scan).InclusiveSum(items, items, total);
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) {
      cuda::atomic_ref<Word, cuda::thread_scope_device> mine(tiles[tile]);
      mine.store(pack(tile == 0 ? kPrefix : kAggregate, total), cuda::memory_order_release);
    }
    int exclusive = 0;
    int look = (int)tile - 1 - (int)threadIdx.x;
    bool done = tile == 0;
    while (!done) {
      Word w = pack(kPrefix, 0);
      if (look >= 0) {
        cuda::atomic_ref<Word, cuda::thread_scope_device> other(tiles[look]);
        do {
          w = other.load(cuda::memory_order_acquire);
        } while ((w >> 32) == kInvalid);
      }
      const unsigned prefixes = __ballot_sync(0xffffffffu, (w >> 32) == kPrefix);
      const int first = prefixes ? __ffs(prefixes) - 1 : 31;
      int v = (int)threadIdx.x <= first ? int(unsigned(w)) : 0;
      v = __reduce_add_sync(0xffffffffu, v);
      exclusive += v;
      done = prefixes != 0;
      look -= 32;
    }
    if (threadIdx.x == 0) {
      if (tile) {
        cuda::atomic_ref<Word, cuda::thread_scope_device> mine(tiles[tile]);
        mine.store(pack(kPrefix, exclusive + total), cuda::memory_order_release);
      }
      exclusive_shared = exclusive;
    }
  }
#pragma unroll
  for (int& item : items) item += exclusive_shared;
  if (valid == kThreads * kItems)
    Store(temp.store).Store(sums + base, items);
  else
    Store(temp.store).Store(sums + base, items, valid);
}

SOLVE(const int* x, int* sums, int n) {
  constexpr int kThreads = 128, kItems = 16;
  const int tiles = ceil_div(n, kThreads * kItems);
  Word* words = scratch<Word>(tiles + 1);
  cudaMemsetAsync(words, 0, (tiles + 1) * sizeof(Word));
  scan<kThreads, kItems><<<tiles, kThreads>>>(x, sums, words, reinterpret_cast<unsigned*>(words + tiles), n);
}
