// Programs as text, and calls that check proposes, for their tests.
#pragma once

#include <algorithm>
#include <memory>

#include "check/propose/evaluate.h"
#include "tests/check/call.h"

namespace tessera::checking {

class HostText : public testing::Test {
 protected:
  // The value of an expression at the end of main(), in a program of this text.
  std::optional<HostValue> value(const std::string& text, const std::string& expression) {
    const std::string path = testing::TempDir() + "/host_text.cu";
    write_text(path, text + "\nvoid end_of_file() { result = " + expression + "; }\n");
    source_ = std::make_unique<HostSource>(path, ReadOptions{});
    evaluator_ = std::make_unique<Evaluator>(*source_);
    const SourceFunction* end = source_->function("end_of_file");
    const SourceFunction* main = source_->function("main");
    EXPECT_NE(end, nullptr);
    if (end == nullptr) return std::nullopt;
    Scope scope{main, main != nullptr ? main->body.last : nullptr, {}};
    return evaluator_->value({end->body.first + 3, end->body.last - 2}, scope);
  }
  std::int64_t whole(const std::string& text, const std::string& expression) {
    const auto found = value(text, expression);
    return found ? found->whole() : -999;
  }

  std::unique_ptr<HostSource> source_;
  std::unique_ptr<Evaluator> evaluator_;
};

class LaunchText : public HostText {
 protected:
  static inline const std::string kTwoKernels =
      "__global__ void k(float* x, int n) {}\n"
      "template <class T, int B> __global__ void t(T* x, int n) {}\n";

  // The launches in a program of two kernels followed by this text.
  const std::vector<LaunchSite>& launches(const std::string& text) {
    value(kTwoKernels + text, "0");
    return source_->launches();
  }
  // The text of the only launch, and its arguments.
  std::string only(const std::string& text) {
    const auto& sites = launches(text);
    if (sites.size() != 1) return std::to_string(sites.size()) + " launches";
    std::string all = sites[0].text();
    for (const auto* words : {&sites[0].template_arguments, &sites[0].arguments}) {
      all += " |";
      for (const TokenRange& one : *words) all += " " + text_of(one) + ";";
    }
    return all;
  }
};

class Propose : public Check {
 protected:
  // The words of the call that is shown for the kernel; empty where none is.
  static Words proposed_of(const std::string& file, const std::string& kernel,
                           const Words& more = {}) {
    const Ran ran = check(joined({kFolder + file, "--kernel", kernel}, more));
    EXPECT_EQ(ran.code, 2) << ran.out;
    shown_ = ran.err;
    return words_below("This call runs");
  }
  // Each part is one of the words.
  static void expect_words(const Words& words, const Words& parts) {
    for (const std::string& part : parts) {
      EXPECT_NE(std::find(words.begin(), words.end(), part), words.end())
          << "lacks '" << part << "': " << shown_;
    }
  }
  // The words of the first command that is shown after this text.
  static Words words_below(const std::string& text) {
    const std::size_t above = shown_.find(text), at = shown_.find("\n  tessera ", above);
    if (above == std::string::npos || at == std::string::npos) return {};
    return words_of(shown_.substr(at + 3, shown_.find('\n', at + 3) - at - 3));
  }
  // As a shell reads them.
  static Words words_of(const std::string& line) {
    Words words(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '\'') {
        quoted = !quoted;
      } else if (c == ' ' && !quoted) {
        words.emplace_back();
      } else {
        words.back() += c;
      }
    }
    return words;
  }
  static std::string after(const Words& words, const std::string& option) {
    const auto found = std::find(words.begin(), words.end(), option);
    return found == words.end() ? "" : *(found + 1);
  }
  // It comes to its end, clean.
  static void expect_clean(const Words& words) {
    ASSERT_GT(words.size(), 2u) << shown_;
    EXPECT_EQ(words[0], "tessera");
    const Ran ran = run_program({words.begin() + 1, words.end()});
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  }
  static void expect_shown(const std::string& text) {
    EXPECT_TRUE(contains(shown_, text)) << "lacks '" << text << "': " << shown_;
  }

  static inline std::string shown_;
};

// Proposals for the kernels of one file, Of::kFile.
template <class Of>
class ProposeOf : public Propose {
 protected:
  static Words proposed(const std::string& kernel, const Words& more = {}) {
    return proposed_of(Of::kFile, kernel, more);
  }
};

}  // namespace tessera::checking
