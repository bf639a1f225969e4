// The file of images as bytes of a library (catalog/own_images.cpp finds them).
.section .rodata.tessera_images, "a", @progbits
.global tessera_embedded_pack, tessera_embedded_pack_end
.hidden tessera_embedded_pack, tessera_embedded_pack_end
tessera_embedded_pack: .incbin "embedded.images"
tessera_embedded_pack_end: .byte 0
.section .note.GNU-stack, "", @progbits
