// Threads of a CTA that share memory: each kernel here is wrong in one way, and its intact twin
// beside it must be left in peace.
#include "tests/vgpu/observe/checked.h"

namespace tessera::vgpu {
namespace {

constexpr const char* kTile = ".shared .align 16 .b8 tile[1024];\n";

// r0: thread, r1: its word in the tile, r2: the word of the same lane in the other warp, r3: of the
// next lane.
std::string with_places(const std::string& body) {
  return R"(
    mov.u32 r0, %tid.x;
    shl.b32 r4, r0, 2;
    mov.u32 r1, tile;
    add.u32 r1, r1, r4;
    xor.b32 r5, r4, 128;
    mov.u32 r2, tile;
    add.u32 r2, r2, r5;
    xor.b32 r5, r4, 4;
    mov.u32 r3, tile;
    add.u32 r3, r3, r5;
  )" + body;
}

Findings check_tile(const std::string& body, std::uint32_t block = 64) {
  return check(with_places(body), threads(block), kTile);
}

TEST(CheckBarrier, MissingBeforeUse) {
  expect_found(check_tile("st.shared.u32 [r1], r0;\n ld.shared.u32 r6, [r2];"), "race",
               "ld.shared.u32");
  expect_clean(check_tile("st.shared.u32 [r1], r0;\n bar.sync 0;\n ld.shared.u32 r6, [r2];"));
}

std::string tiled_loop(const std::string& end_of_loop) {
  return "mov.u32 r7, 0;\n L: st.shared.u32 [r1], r0;\n bar.sync 0;\n ld.shared.u32 r6, [r2];\n" +
         end_of_loop + "add.u32 r7, r7, 1;\n setp.lt.u32 p, r7, 4;\n @p bra L;";
}

TEST(CheckBarrier, MissingAtTheEndOfALoop) {
  const Findings findings = check_tile(tiled_loop(""));
  expect_found(findings, "race", "st.shared.u32");
  ASSERT_EQ(findings.size(), 1u) << text_of(findings);
  EXPECT_NE(findings[0].hint.find("runs again"), std::string::npos) << findings[0].hint;
  EXPECT_EQ(findings[0].places[1].form, "ld.shared.u32");
  expect_clean(check_tile(tiled_loop("bar.sync 0;\n")));
}

TEST(CheckBarrier, NamesBothPlaces) {
  const Findings findings =
      check_tile("st.shared.u32 [r1], r0;\n ld.shared.u32 r6, [r2];\n bar.sync 0;");
  ASSERT_FALSE(findings.empty());
  const auto race = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.check == "race" && finding.places[0].form == "ld.shared.u32";
  });
  ASSERT_NE(race, findings.end()) << text_of(findings);
  EXPECT_EQ(race->places[1].form, "st.shared.u32");
  EXPECT_EQ(race->places[0].warp + race->places[1].warp, 1);
  EXPECT_EQ(race->places[0].lane, race->places[1].lane);
  EXPECT_EQ(race->places[1].ptx_line + 1, race->places[0].ptx_line);
  EXPECT_EQ(race->count, 64u);  // each warp reads 32 words of the other
}

// Two ways of a block to one barrier: the second warp takes the one behind ELSE.
std::string two_ways(const std::string& first, const std::string& second,
                     const std::string& branch = "setp.ge.u32 q, r0, 32;") {
  return branch + "\n @q bra ELSE;\n" + first + ";\n bra END;\n ELSE:\n" + second + ";\n END:";
}

TEST(CheckBarrier, WarpsThatMeetAtDifferentInstructionsAreToldOf) {
  const Findings findings = check_tile(two_ways("bar.sync 0", "bar.sync 0"));
  expect_found(findings, "split-barrier", "bar.sync", Severity::kNote);
  ASSERT_EQ(findings.size(), 1u) << text_of(findings);
  EXPECT_EQ(findings[0].places[0].ptx_line, findings[0].places[1].ptx_line + 3);
  // A loop after it: what the phase before was told does not count.
  expect_clean(check_tile("bar.sync 0;\n bar.sync 0;\n bar.sync 0;"));
  expect_found(check_tile("bar.sync 0;\n" + two_ways("bar.sync 0", "bar.sync 0")), "split-barrier",
               "bar.sync", Severity::kNote);
}

TEST(CheckBarrier, WaysThatMayMeetAreLeftInPeace) {
  const std::string copy = ".loc 1 7 0\n bar.sync 0";  // as a compiler copies a line
  expect_clean(check_tile(".file 1 \"a.cu\"\n" + two_ways(copy, copy)));
  expect_clean(check_tile(two_ways("bar.sync 1", "bar.sync 1")));          // named
  expect_clean(check_tile(two_ways("barrier.sync 0", "barrier.sync 0")));  // not aligned
  expect_found(check_tile(two_ways("barrier.sync.aligned 0", "barrier.sync.aligned 0")),
               "split-barrier", "barrier.sync.aligned", Severity::kNote);
  // Lanes of one warp, at a barrier that asks for no common way.
  const std::string odd = "and.b32 r5, r0, 1;\n setp.eq.u32 q, r5, 1;";
  expect_clean(check_tile(two_ways("barrier.sync 0", "barrier.sync 0", odd)));
}

TEST(CheckBarrier, ThreadsThatNeverReachItAreToldOf) {
  const auto skips = [](const std::string& bound, const std::string& barrier) {
    return check_tile("setp.ge.u32 q, r0, " + bound + ";\n @q bra END;\n " + barrier + ";\n END:");
  };
  for (const std::string bound : {"40", "32"}) {  // half a warp, and a whole one
    const Findings findings = skips(bound, "bar.sync 0;\n bar.sync 0");
    EXPECT_EQ(findings.size(), 2u) << text_of(findings);  // once a line
    expect_found(findings, "skipped-barrier", "bar.sync", Severity::kNote);
    const std::string threads = bound == "40" ? "24 threads never reach" : "32 threads never reach";
    EXPECT_NE(findings[0].message.find(threads), std::string::npos) << text_of(findings);
  }
  expect_clean(skips("64", "bar.sync 0"));      // all come
  expect_clean(skips("32", "bar.sync 0, 32"));  // so many are asked for
  expect_clean(skips("32", "barrier.sync 0"));  // asks for no common way
  expect_clean(skips("32", "bar.sync 1"));      // named
}

TEST(CheckBarrier, BarriersOfSomeWarpsOrderThoseAlone) {
  const std::string three_warps = R"(
    setp.ge.u32 q, r0, 64;
    @q bra LAST;
    st.shared.u32 [r1], r0;
    bar.sync 1, 64;
    ld.shared.u32 r6, [r2];
    bar.sync 1, 64;
    bra END;
    LAST:
  )";
  expect_clean(check_tile(three_warps + "END:", 96));
  expect_found(check_tile(three_warps + "ld.shared.u32 r6, [tile];\n END:", 96), "race",
               "ld.shared.u32");
}

// The first warp fills, the second one uses: bar.arrive is a release, bar.sync the acquire.
std::string hand_over(const std::string& arrive) {
  return R"(
    setp.ge.u32 q, r0, 32;
    @q bra USE;
    st.shared.u32 [r1], r0;
  )" + arrive +
         "bra END;\n USE: bar.sync 1, 64;\n ld.shared.u32 r6, [r2];\n END:";
}

TEST(CheckBarrier, AnArrivalHandsOn) {
  expect_clean(check_tile(hand_over("bar.arrive 1, 64;\n")));
  // The arrival comes before the store that it should hand on.
  expect_found(check_tile(R"(
    setp.ge.u32 q, r0, 32;
    @q bra USE;
    bar.arrive 1, 64;
    st.shared.u32 [r1], r0;
    bra END;
    USE: bar.sync 1, 64;
    ld.shared.u32 r6, [r2];
    END:)"),
               "race", "ld.shared.u32");
}

TEST(CheckWarp, RelyingOnLockstep) {
  const std::string store = "st.shared.u32 [r1], r0;\n", load = "ld.shared.u32 r6, [r3];";
  expect_found(check_tile(store + load, 32), "lockstep", "ld.shared.u32", Severity::kLockstep);
  expect_clean(check_tile(store + "bar.warp.sync -1;\n" + load, 32));
  // Those who meet need not be the whole warp.
  const std::string halves = store + R"(
    and.b32 r8, r0, 31;
    setp.lt.u32 q, r8, 16;
    @!q bra UPPER;
    bar.warp.sync 0xffff;
    bra BOTH;
    UPPER: bar.warp.sync 0xffff0000;
    BOTH:
  )";
  expect_clean(check_tile(halves + load, 32));
  const std::string other_half =
      "xor.b32 r9, r4, 64;\n mov.u32 r10, tile;\n add.u32 r9, r9, r10;\n";
  expect_found(check_tile(halves + other_half + "ld.shared.u32 r6, [r9];", 32), "lockstep",
               "ld.shared.u32", Severity::kLockstep);
}

// A lane that reads its own word keeps no other lane's read of it from being held against a store.
TEST(CheckWarp, EveryLanesReadCountsBeforeAStore) {
  const std::string fill = "st.shared.u32 [r1], r0;\n bar.sync 0;\n";
  const std::string others = "ld.shared.u32 r6, [r3];\n", own = "ld.shared.u32 r7, [r1];\n";
  const std::string all = "ld.shared.u32 r8, [tile];\n", store = "st.shared.u32 [r1], r0;";
  for (const std::string& reads : {others, others + own, own + others, all, all + own}) {
    SCOPED_TRACE(reads);
    expect_found(check_tile(fill + reads + store, 32), "lockstep", "st.shared.u32",
                 Severity::kLockstep);
    expect_clean(check_tile(fill + reads + "bar.warp.sync -1;\n" + store, 32));
    expect_clean(check_tile(fill + reads + "bar.sync 0;\n" + own + store, 32));
  }
  expect_clean(check_tile(fill + others + "bar.warp.sync -1;\n" + own + store, 32));
}

TEST(CheckWarp, AThreadsOwnAccessesAreInOrder) {
  expect_clean(
      check_tile("st.shared.u32 [r1], r0;\n ld.shared.u32 r6, [r1];\n"
                 "st.shared.u32 [r1], r6;"));
}

TEST(CheckWarp, SeveralLanesOfOneStore) {
  expect_found(check_tile("st.shared.u32 [tile], r0;", 32), "race", "st.shared.u32");
  expect_clean(check_tile("setp.eq.u32 p, r0, 0;\n @p st.shared.u32 [tile], r0;", 32));
}

TEST(CheckCells, NeighbouringBytesAreNoRace) {
  const std::string address = "mov.u32 r8, tile;\n add.u32 r8, r8, r0;\n";
  expect_clean(check_tile(address + "st.shared.u8 [r8], r0;", 64));
  // Byte 31 and byte 32 lie in different words; warps that share one are the point.
  const std::string interleaved =
      "and.b32 r9, r0, 31;\n shl.b32 r9, r9, 1;\n shr.u32 r10, r0, 5;\n add.u32 r9, r9, r10;\n"
      "mov.u32 r8, tile;\n add.u32 r8, r8, r9;\n";
  expect_clean(check_tile(interleaved + "st.shared.u8 [r8], r0;", 64));
  expect_found(check_tile(interleaved + "st.shared.u8 [r8], r0;\n"
                                        "xor.b32 r8, r8, 1;\n ld.shared.u8 r6, [r8];",
                          64),
               "race", "ld.shared.u8");
}

TEST(CheckCells, TheSameValueIsARaceAllTheSame) {
  expect_found(check_tile("and.b32 r8, r0, 31;\n setp.eq.u32 p, r8, 0;\n"
                          "@p st.shared.u32 [tile], 7;"),
               "race", "st.shared.u32");
}

TEST(CheckCells, WideAccessesTouchEveryWord) {
  const std::string wide =
      "setp.ge.u32 q, r0, 32;\n shl.b32 r8, r0, 4;\n mov.u32 r9, tile;\n add.u32 r8, r8, r9;\n"
      "@!q st.shared.v4.u32 [r8], {r0, r0, r0, r0};\n";
  const std::string load = "@q ld.shared.u32 r6, [tile+12];";
  expect_found(check_tile(wide + load), "race", "ld.shared.u32");
  expect_clean(check_tile(wide + "bar.sync 0;\n" + load));
}

// A column-major tile of halves is stored two bytes a lane.
TEST(CheckCells, HalvesOfATileAreNoRace) {
  expect_clean(
      check_tile("mov.b32 r10, 0;\n mov.u32 r11, tile;\n"
                 "wmma.store.d.sync.aligned.col.m16n16k16.shared.f16 [r11], "
                 "{r10, r10, r10, r10}, 16;",
                 32));
}

TEST(CheckAtomics, DoNotRaceWithEachOther) {
  const std::string zero = "setp.eq.u32 p, r0, 0;\n @p st.shared.u32 [tile], 0;\n bar.sync 0;\n";
  const std::string add = "atom.shared.add.u32 r6, [tile], r0;\n";
  expect_clean(check_tile(zero + add + "bar.sync 0;\n ld.shared.u32 r6, [tile];"));
  expect_found(check_tile(zero + add + "ld.shared.u32 r6, [tile];"), "race", "ld.shared.u32");
  const std::string by_one_warp =
      "setp.eq.u32 p, r0, 0;\n @p st.shared.u32 [tile], 0;\n setp.ge.u32 q, r0, 32;\n @q ";
  expect_found(check_tile(by_one_warp + add), "race", "atom.shared.add.u32");
}

// A lock: whoever takes it knows what its last holder did.
std::string locked(const std::string& after_taking, const std::string& before_giving) {
  return R"(
    setp.eq.u32 p, r0, 0;
    @p st.shared.u32 [tile], 0;
    @p st.shared.u32 [tile+4], 0;
    bar.sync 0;
    and.b32 r8, r0, 31;
    setp.ne.u32 q, r8, 0;
    @q bra END;
    TAKE: atom.shared.cas.b32 r6, [tile], 0, 1;
    setp.ne.u32 p, r6, 0;
    @p bra TAKE;
  )" + after_taking +
         "ld.shared.u32 r7, [tile+4];\n add.u32 r7, r7, 1;\n st.shared.u32 [tile+4], r7;\n" +
         before_giving + "atom.shared.exch.b32 r6, [tile], 0;\n END:";
}

TEST(CheckAtomics, ALockOrdersWithItsFences) {
  expect_clean(check_tile(locked("membar.cta;\n", "membar.cta;\n")));
  expect_found(check_tile(locked("membar.cta;\n", "")), "race", "st.shared.u32");
  expect_found(check_tile(locked("", "membar.cta;\n")), "race", "st.shared.u32");
}

TEST(CheckInitialisation, OfSharedMemory) {
  expect_found(check_tile("ld.shared.u32 r6, [r1];"), "uninitialised-shared-read", "ld.shared.u32");
  expect_clean(check_tile("st.shared.u32 [r1], 1;\n ld.shared.u32 r6, [r1];"));
  // Half of a word is not a word.
  expect_found(check_tile("st.shared.u16 [r1], r0;\n ld.shared.u32 r6, [r1];"),
               "uninitialised-shared-read", "ld.shared.u32");
}

// Half of what is read before it is written is written by the other warp later; then all, or a
// part.
TEST(CheckInitialisation, OfWhatIsWrittenTooLate) {
  const auto early = [](const std::string& writers) {
    return check_tile("setp.lt.u32 p, r0, " + writers +
                      ";\n @p st.shared.u32 [r1], r0;\n ld.shared.u32 r6, [r2];");
  };
  const auto hint = [](const Findings& findings) {
    for (const Finding& finding : findings) {
      if (finding.check == "uninitialised-shared-read") return finding.cure + ": " + finding.hint;
    }
    return text_of(findings);
  };
  EXPECT_TRUE(hint(early("64")).starts_with("put __syncthreads(): put __syncthreads() between"))
      << hint(early("64"));
  EXPECT_TRUE(hint(early("48")).starts_with(": write these bytes before")) << hint(early("48"));
}

// What an earlier CTA left behind is nobody's.
TEST(CheckInitialisation, OfSharedMemoryOfEachCta) {
  const std::string first_alone =
      "mov.u32 r8, %ctaid.x;\n setp.eq.u32 p, r8, 0;\n @p st.shared.u32 [r1], 1;\n"
      "ld.shared.u32 r6, [r1];";
  const Findings findings = check(with_places(first_alone), threads(32, 2), kTile);
  expect_found(findings, "uninitialised-shared-read", "ld.shared.u32");
  EXPECT_EQ(findings[0].places[0].cta, 1u);
}

}  // namespace
}  // namespace tessera::vgpu
