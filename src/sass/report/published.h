// Matrix multiplication loops that others have published, to compare a kernel's own loop with. Each
// multiplies 8 x 8 outputs per thread over 8 steps of k, which is 512 FFMAs.
#pragma once

#include <array>
#include <string_view>

namespace tessera::sass {

struct PublishedRow {
  std::string_view what;   // the printed name
  std::string_view stems;  // names of instructions of sm_75 and later that do this, by blanks
  std::string_view maxas;  // S. Gray's hand-scheduled SGEMM for Maxwell (maxas, 2014)
  std::string_view volta;  // code that a compiler made from CUDA C++ for Volta
};

inline constexpr std::array<PublishedRow, 12> kPublishedLoops = {{
    {"FFMA", "FFMA", "512", "512, in two blocks"},
    {"LDS", "LDS", "32, dual-issued", "32"},
    {"STS", "STS", "4, dual-issued", "5"},
    {"global loads", "LDG LDGSTS UTMALDG UBLKCP", "4 (texture)", "-"},
    {"IADD, LEA", "IADD3 LEA VIADD UIADD3 ULEA", "4", "10"},
    {"IMAD", "IMAD UIMAD", "-", "3"},
    {"logic, shifts", "LOP3 SHF ULOP3 USHF PRMT", "3", "3"},
    {"moves", "MOV UMOV SEL USEL S2R S2UR R2UR CS2R HFMA2", "-", "3"},
    {"compare", "ISETP UISETP PLOP3 UPLOP3", "1", "2"},
    {"barrier", "BAR SYNCS", "1", "1"},
    {"branch", "BRA", "1", "1"},
    {"NOP", "NOP", "-", "1"},
}};

}  // namespace tessera::sass
