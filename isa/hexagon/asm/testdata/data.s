 .section .rodata
 .align 8
x: .byte 1,2,3,'a','\n'
 .half 0x1234, -1
 .p2align 3, 0xff
 .word x, y-x, 5
 .quad 0x123456789abcdef0
 .ascii "ab\t\x41\101\0","c"
 .asciz "d"
 .string "e","f"
 .space 3
 .skip 2, 7
 .zero 4
 .fill 3, 2, 0x1122
 .float 1.5, -0.25, 1e10,3,1.5e-3, 0x1p3
 .single 3.25
 .double 3.14159, -1e-300, 5, 1e400
 .octa 0x0123456789abcdef0011223344556677, 5
 .uleb128 300, 0, 127,128
 .sleb128 -300, 0, 63, 64,-64,-65
 .hword 3
 .balign 16
y: .word 5
 .text
 r0 = #0
 .pushsection .data
z: .word 5, x+8
 .popsection
 r1 = ##z
 .section .foo,"ax",@progbits
 .previous
 r3 = #2
 .data
msg: .ascii "hello\n"
 .set len, .-msg
 .equ len2, end-msg
end:
 .space 32-(.-msg)
 .text
 r2 = #len
 r3 = #(end-msg)+1
 .if len == 6
 r4 = #len
 .endif
 r5 = add(r5,#len)
 .section .bss.zero,"aw",@nobits
 .word 0
 .section .debug_info,"",@progbits
 .uleb128 later-code
 .text
code:
 r0 = #3
later:
