.set NN,3
.if NN == 3
 r0 = #1
.else
 r0 = #2
.endif
.if NN > 2 && NN < 5
 r0 = #3
.elseif NN
 r0 = #4
.else
 r0 = #5
.endif
.ifdef NN
 r1=#1
.endif
.ifndef M
 r1=#2
.endif
.ifeq NN-3
 r2 = #1
.endif
.ifne NN
 r2 = #2
.endif
.ifgt NN
 r2 = #3
.endif
.ifc a,a
 r3 = #1
.endif
.ifnc a,b
 r3 = #2
.endif
.if 1
.if 0
 r4 = #1
.else
 r4 = #2
.endif
.else
 bogus stuff here
.endif
.ifb
 r5=#1
.endif
.ifeqs "a","a"
 r6=#1
.endif
.irp r,0,1,2,3
 r\r = #\r
.endr
.irpc c,4567
 r\c = #\c
.endr
.rept 3
 nop
.endr
.irp x,"a",b c
.word \x
.endr
a: .word 1
b: c:
 .set A, (1<<4)|3
 .set B, A*2 - -1
 .equ C, ~A & 0xff
 r0 = #A
 r1 = ##B
 r2 = #C%7
 r3 = #(A==19)
 r4 = #(A!=19)+2
 r5 = #(A<20)
 r6 = #(A>=B)
 r7 = #(A&&0)
 r8 = #(0||5)
 r9 = #!A
 r10 = #'a'
 r11 = #0b101
 r12 = #017
 r13 = #0x1F
 r14 = #A<>B
 r15 = #1+2*3
 r16 = #-A
 r17 = #(2|1)^7
 r18 = #1<<3>>1
.set A, 19
.word 1+2<<3, 1|2+4, 6&3+1, 2*3<<1, 1<<2*3, A==19, A!=19, A<20, A>=20, A<>19, 5&&0, 0||5, 3&&4, !A, !0, -8>>1, 1==2==0, 7^3&1, 1|6^2, 7%4*2, 10-3-2, 1<2+3, 2!=3&&1, 1||0&&0
.word 5!3, ~5, -(-3), +4, 0x10, 010, 0b11, 'a', '\n', '\\', 100/7, -100/7, -100%7, 3|!1
