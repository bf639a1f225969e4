#include "lab/suite/published.h"

namespace tessera::lab {
namespace {

// Sources: config.json of each model on huggingface.co (the repository is
// named where its name is not the model's); ViT: arXiv 2010.11929, table 1, with ImageNet's 1000
// classes as its vocabulary.
constexpr PublishedModel kModels[] = {
    {"GPT-2 XL", 1600, 6400, 25, 25, 64, 50257},          // openai-community/gpt2-xl
    {"BERT large", 1024, 4096, 16, 16, 64, 30522},        // bert-large-uncased
    {"ViT-L/16", 1024, 4096, 16, 16, 64, 1000},           // paper
    {"OPT 6.7B", 4096, 16384, 32, 32, 128, 50272},        // facebook/opt-6.7b
    {"Whisper large v3", 1280, 5120, 20, 20, 64, 51866},  // openai/whisper-large-v3
    {"Falcon 7B", 4544, 18176, 71, 1, 64, 65024},         // tiiuae/falcon-7b
    {"Llama 2 7B", 4096, 11008, 32, 32, 128, 32000},      // meta-llama/Llama-2-7b
    {"Llama 2 13B", 5120, 13824, 40, 40, 128, 32000},     // meta-llama/Llama-2-13b
    {"Llama 3 8B", 4096, 14336, 32, 8, 128, 128256},      // meta-llama/Meta-Llama-3-8B
    {"Llama 3 70B", 8192, 28672, 64, 8, 128, 128256},     // meta-llama/Meta-Llama-3-70B
    {"Llama 3.2 1B", 2048, 8192, 32, 8, 64, 128256},      // meta-llama/Llama-3.2-1B
    {"Mistral 7B", 4096, 14336, 32, 8, 128, 32000},       // mistralai/Mistral-7B-v0.1
    {"Qwen 2.5 0.5B", 896, 4864, 14, 2, 64, 151936},      // Qwen/Qwen2.5-0.5B
    {"Qwen 2.5 7B", 3584, 18944, 28, 4, 128, 152064},     // Qwen/Qwen2.5-7B
    {"Qwen 3 8B", 4096, 12288, 32, 8, 128, 151936},       // Qwen/Qwen3-8B
    {"Gemma 7B", 3072, 24576, 16, 16, 256, 256000},       // google/gemma-7b
    {"Gemma 2 9B", 3584, 14336, 16, 8, 256, 256000},      // google/gemma-2-9b
    {"Phi-3 mini", 3072, 8192, 32, 32, 96, 32064},        // microsoft/Phi-3-mini-4k-instruct
};

// ResNet-50: arXiv 1512.03385, table 1. VGG-16: arXiv 1409.1556, table 1. MobileNetV2: arXiv
// 1801.04381, table 2. Stable Diffusion 1.5's U-Net: unet/config.json of its weights.
constexpr PublishedConvolution kConvolutions[] = {
    {"ResNet-50 conv1", 112 * 112, 147, 64},       {"ResNet-50 conv2, 1x1", 56 * 56, 64, 64},
    {"ResNet-50 conv2, 3x3", 56 * 56, 576, 64},    {"ResNet-50 conv2, out", 56 * 56, 64, 256},
    {"ResNet-50 conv3, 3x3", 28 * 28, 1152, 128},  {"ResNet-50 conv3, out", 28 * 28, 128, 512},
    {"ResNet-50 conv4, 3x3", 14 * 14, 2304, 256},  {"ResNet-50 conv4, in", 14 * 14, 1024, 256},
    {"ResNet-50 conv5, 3x3", 7 * 7, 4608, 512},    {"ResNet-50 conv5, out", 7 * 7, 512, 2048},
    {"VGG-16 conv1_1", 224 * 224, 27, 64},         {"VGG-16 conv1_2", 224 * 224, 576, 64},
    {"VGG-16 conv3_2", 56 * 56, 2304, 256},        {"VGG-16 conv4_2", 28 * 28, 4608, 512},
    {"VGG-16 conv5_1", 14 * 14, 4608, 512},        {"MobileNetV2 56, expand", 56 * 56, 24, 144},
    {"MobileNetV2 28, project", 28 * 28, 192, 32}, {"MobileNetV2 14, expand", 14 * 14, 96, 576},
    {"MobileNetV2 7, last", 7 * 7, 320, 1280},     {"Stable Diffusion 64", 64 * 64, 2880, 320},
    {"Stable Diffusion 32", 32 * 32, 5760, 640},   {"Stable Diffusion 16", 16 * 16, 11520, 1280},
};

}  // namespace

std::span<const PublishedModel> published_models() { return kModels; }
std::span<const PublishedConvolution> published_convolutions() { return kConvolutions; }

}  // namespace tessera::lab
