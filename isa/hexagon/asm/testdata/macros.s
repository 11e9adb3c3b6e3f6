 .text
.macro ADD3 a, b, c
  { \a = add(\b,\c) }
.endm

 ADD3 r0, r1, r2
 ADD3 r3,r4,r5
 .macro two x y=r7
  \x = \y
  \x = add(\x,#\@)
 .endm
 two r1
 two r1 r2
 two y=r3, x=r4
.macro vec n, rest:vararg
 v\n = vxor(v\n,v\n)
 .ifnb \rest
 vec \rest
 .endif
.endm
 vec 1,2,3
.macro l from=0, to=3
 .word \from
 .if \to-\from
 l "(\from+1)",\to
 .endif
.endm
 l
.macro nm name
x\name\(): nop
.endm
 nm foo
.macro outer n
.macro inner\n x
 r\n = #\x
.endm
.endm
 outer 3
 inner3 7
.macro m a b c
 .word \a
 .word \b
 .word \c
.endm
 m 1 2 3
 m 1, 2, 3
 m 1 + 2, 3 - 4 5
 m (1 + 2) 3 4
 m -1 -2 -3
 m 1,,3
 m c=1, b=2, a=3
.macro q s:req, rest:vararg
 .asciz "\s"
 .asciz \rest
.endm
 q abc, "def", "ghi"
 q "x y", "z"
.macro ex n
 .if \n == 2
 .exitm
 .endif
 .word 100+\n
 .endm
 ex 1
 ex 2
 ex 3
.purgem ex
.macro ex
L\@: .word \@
.endm
 ex
 ex
.macro fact n, acc=1
 .if \n
 fact "(\n-1)", "(\acc*\n)"
 .else
 .word \acc
 .endif
.endm
 fact 5
