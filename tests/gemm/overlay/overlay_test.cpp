// Overlays as text and as files. Whatever is wrong with one is a miss.
#include "gemm/overlay/overlay.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "gemm/overlay/overlay_file.h"

namespace tessera::gemm {
namespace {

namespace fs = std::filesystem;

const OverlayOrigin kHere{"NVIDIA H100 80GB HBM3", "580.1", "0123456789ab"};

Overlay overlay_with(int entries, const std::string& path = "the file") {
  Overlay overlay{path, kHere, {}, {}};
  for (int i = 0; i < entries; ++i) {
    overlay.entries["type=f32 m=" + std::to_string(1000 + i)] = {"simt_f32/128x64:whole", 8.125 + i,
                                                                 9.25 + i};
  }
  return overlay;
}

class OverlayFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "overlay.XXXXXX").string();
    folder_ = mkdtemp(name.data());
    for (const char* const variable : {"TESSERA_TUNING", "XDG_CACHE_HOME", "HOME"}) {
      const char* const value = getenv(variable);
      if (value) before_[variable] = value;
      unsetenv(variable);
    }
  }
  void TearDown() override {
    for (const char* const variable : {"TESSERA_TUNING", "XDG_CACHE_HOME", "HOME"}) {
      unsetenv(variable);
    }
    for (const auto& [variable, value] : before_) setenv(variable.c_str(), value.c_str(), 1);
    fs::remove_all(folder_);
  }
  std::string path(const std::string& name = "x.tuning") const { return folder_ + "/" + name; }
  static void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  std::string folder_;
  std::map<std::string, std::string> before_;
};

TEST(Overlay, IsReadBackAsItWas) {
  for (const int entries : {0, 1, 100}) {
    const Overlay overlay = overlay_with(entries);
    const Overlay again = overlay_of(text_of(overlay), "the file");
    EXPECT_EQ(again.ignored, "");
    EXPECT_EQ(again.entries, overlay.entries);
    EXPECT_EQ(again.origin.gpu, kHere.gpu);
    EXPECT_EQ(again.origin.driver, kHere.driver);
    EXPECT_EQ(again.origin.library, kHere.library);
  }
}

// A line break in a name is not one in the file.
TEST(Overlay, ANameOfTwoLinesIsOne) {
  Overlay overlay = overlay_with(1);
  overlay.origin.gpu = "two\nlines";
  Overlay again = overlay_of(text_of(overlay), "the file");
  ignore_if_foreign(again, overlay.origin);
  EXPECT_EQ(again.entries.size(), 1u) << again.ignored;
}

TEST(Overlay, CutAtAnyByteIsAMiss) {
  const std::string text = text_of(overlay_with(3));
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    const Overlay cut = overlay_of(text.substr(0, bytes), "the file");
    EXPECT_TRUE(cut.entries.empty()) << bytes;
    EXPECT_NE(cut.ignored.find("the file"), std::string::npos) << bytes;
  }
}

TEST(Overlay, WithOneByteChangedIsAMiss) {
  const std::string text = text_of(overlay_with(3));
  std::mt19937 random(7);
  for (std::size_t place = 0; place < text.size(); ++place) {
    std::string other = text;
    other[place] = static_cast<char>(static_cast<unsigned>(other[place]) ^ (1 + random() % 255));
    EXPECT_NE(overlay_of(other, "the file").ignored, "") << place;
  }
  EXPECT_NE(overlay_of(text + "x", "the file").ignored, "");
  EXPECT_NE(overlay_of(text + text, "the file").ignored, "");
}

TEST(Overlay, RandomBytesAreAMiss) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 300, '\0');
    for (char& c : text) c = static_cast<char>(random());
    if (round % 2 == 0) text = text_of(overlay_with(1)).substr(0, random() % 90) + text;
    const Overlay overlay = overlay_of(text, "the file");
    EXPECT_TRUE(overlay.entries.empty());
    EXPECT_NE(overlay.ignored, "");
  }
}

// Lines that are wrong though count and hash are right, as of a writer with a mistake.
TEST(Overlay, BadLinesAreAMiss) {
  for (const char* const line :
       {"8.1 9.2 plan", "8.1 9.2 plan ", "8.1 plan key", "nan 9.2 plan key", "-1 9.2 plan key",
        "0 9.2 plan key", "8.1x 9.2 plan key", " 8.1 9.2 plan key", "inf 9.2 plan key", "",
        "8.1 9.2  key"}) {
    Overlay overlay = overlay_with(0);
    const std::string head = text_of(overlay).substr(0, text_of(overlay).find("end "));
    const std::string all = head + line + "\n";
    Overlay carrier = overlay_of(all + "end 1 0\n", "the file");
    EXPECT_TRUE(carrier.ignored.find("bad line") != std::string::npos) << line << carrier.ignored;
  }
  const std::string one = text_of(overlay_with(1));
  const std::size_t begin = one.find("8.125"), end = one.find("end ");
  const std::string twice = one.substr(0, end) + one.substr(begin, end - begin) + one.substr(end);
  EXPECT_NE(overlay_of(twice, "the file").ignored.find("two lines"), std::string::npos);
}

TEST(Overlay, OfAnotherGpuOrLibraryIsAMiss) {
  const auto ignored = [](const OverlayOrigin& here) {
    Overlay overlay = overlay_with(2);
    ignore_if_foreign(overlay, here);
    EXPECT_EQ(overlay.entries.empty(), !overlay.ignored.empty());
    return overlay.ignored;
  };
  EXPECT_EQ(ignored(kHere), "");
  EXPECT_EQ(ignored({kHere.gpu, "another driver", kHere.library}), "");
  EXPECT_NE(ignored({"NVIDIA H200", kHere.driver, kHere.library}).find("NVIDIA H200"),
            std::string::npos);
  EXPECT_NE(ignored({kHere.gpu, kHere.driver, "another"}).find("another"), std::string::npos);
}

TEST_F(OverlayFile, LiesInTheCacheFolderOrWhereTheUserSays) {
  EXPECT_EQ(overlay_path("NVIDIA H200"), "") << "no folder";
  setenv("HOME", "/a", 1);
  EXPECT_EQ(overlay_path("NVIDIA H100 80GB HBM3"),
            "/a/.cache/tessera/nvidia-h100-80gb-hbm3.tuning");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(overlay_path("NVIDIA H200"), "/cache/tessera/nvidia-h200.tuning");
  setenv("TESSERA_TUNING", "/my/file", 1);
  EXPECT_EQ(overlay_path("NVIDIA H200"), "/my/file");
  for (const char* const none : {"", "off"}) {
    setenv("TESSERA_TUNING", none, 1);
    EXPECT_EQ(overlay_path("NVIDIA H200"), "");
    EXPECT_TRUE(overlay_paths().empty());
  }
}

TEST_F(OverlayFile, IsWrittenWithItsFolderAndListed) {
  setenv("XDG_CACHE_HOME", (folder_ + "/a/b").c_str(), 1);
  EXPECT_TRUE(overlay_paths().empty());
  const Overlay overlay = overlay_with(3, overlay_path(kHere.gpu));
  write_overlay(overlay);
  EXPECT_EQ(read_overlay(overlay.path).entries, overlay.entries);
  EXPECT_EQ(overlay_paths(), std::vector<std::string>{overlay.path});
  write_overlay(overlay_with(1, overlay.path));
  EXPECT_EQ(read_overlay(overlay.path).entries.size(), 1u);
}

TEST_F(OverlayFile, ThatCannotBeReadIsAMiss) {
  EXPECT_EQ(read_overlay(path()).ignored, "") << "no file: nothing to say";
  EXPECT_TRUE(read_overlay(path()).entries.empty());
  put(path(), std::string(10 << 20, 'x'));
  EXPECT_NE(read_overlay(path()).ignored.find("4 MiB"), std::string::npos);
  EXPECT_NE(read_overlay(folder_).ignored.find("no file"), std::string::npos);
  const std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(read_overlay(pipe).ignored, "") << "and does not wait for a writer";
}

TEST_F(OverlayFile, ThatCannotBeWrittenSaysWhy) {
  put(path("a_file"), "");
  try {
    write_overlay(overlay_with(1, path("a_file/x.tuning")));
    FAIL();
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kUnavailable);
    EXPECT_NE(std::string(error.what()).find("a_file/x.tuning"), std::string::npos);
  }
  EXPECT_THROW(write_overlay(overlay_with(100000, path())), StatusError) << "longer than is read";
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(OverlayFile, TwoWritersLeaveOneWholeFile) {
  const auto write = [&](int entries) {
    for (int i = 0; i < 200; ++i) write_overlay(overlay_with(entries, path()));
  };
  write(1);
  std::thread first([&] { write(2); }), second([&] { write(200); });
  for (int i = 0; i < 500; ++i) {
    const Overlay found = read_overlay(path());
    ASSERT_EQ(found.ignored, "");
    ASSERT_TRUE(found.entries.size() == 1 || found.entries.size() == 2 ||
                found.entries.size() == 200);
  }
  first.join();
  second.join();
  EXPECT_EQ(read_overlay(path()).ignored, "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1)
      << "no temporary file is left";
}

DeviceInfo gpu_named(const std::string& name) {
  DeviceInfo info{};
  info.kind = DeviceKind::kCuda;
  info.name = name;
  info.sm = 90;
  return info;
}

// Each GPU has another name here, since what was read is kept.
TEST_F(OverlayFile, IsReadOnceForAGpu) {
  setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  EXPECT_EQ(tuned_limits_of(gpu_named("none")).overlay, nullptr);
  const auto written = [&](const std::string& gpu, const std::string& library) {
    Overlay overlay = overlay_with(1, overlay_path(gpu));
    overlay.origin = {gpu, "", library};
    write_overlay(overlay);
    return tuned_limits_of(gpu_named(gpu)).overlay;
  };
  const Overlay* const known = written("known", library_version());
  ASSERT_TRUE(known);
  EXPECT_EQ(known->entries.size(), 1u) << known->ignored;
  fs::remove_all(folder_ + "/tessera");
  EXPECT_EQ(tuned_limits_of(gpu_named("known")).overlay, known);
  const Overlay* const stale = written("stale", "another");
  ASSERT_TRUE(stale);
  EXPECT_TRUE(stale->entries.empty());
  EXPECT_NE(stale->ignored.find("another"), std::string::npos);
  setenv("TESSERA_TUNING", "off", 1);
  EXPECT_EQ(tuned_limits_of(gpu_named("unused")).overlay, nullptr);
}

}  // namespace
}  // namespace tessera::gemm
