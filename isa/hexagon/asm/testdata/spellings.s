 lr:fp = memd(r0+#8)
 cs1:0 = r1:0
 r1:0 = m1:0
 dcfetch(r0)
 dcfetch(r0+#8)
 if (p0) r3 = memw(#4)
 if (p0) memw(#4) = r3
 r3 = memw(r1<<#2+#5)
 memw(r1<<#2+#5)=r3
 r0=memw(r1=#5)
 r3:2=#200
 r3:2=##5
 r1:0 = utimer
 jump 8
 if (!p0) jump 8
 call 0x100
 loop0(8,#3)
 { r0=r1; r3=add(r0,r2); if (cmp.eq(r3.new,r1)) jump:t 16 }
 if (r0!=#0) jump:t 8
 jump ##8
// aliases
 r3:2 = vaddb(r5:4,r7:6)
 r3:2 = vsubb(r5:4,r7:6)
 p1 = cmp.lt(r1,r2)
 p2 = cmp.ltu(r1,r2)
 p3 = cmp.ge(r1,#-5)
 p0 = cmp.geu(r1,#9)
 p0 = cmp.geu(r1,#0)
 r2 = tableidxb(r3,#4,#5)
 r2 = tableidxh(r3,#4,#5)
 r2 = tableidxw(r3,#4,#5)
 r2 = tableidxd(r3,#4,#5)
 r2 = vasrhub(r5:4,#3):rnd:sat
 r2 = vasrhub(r5:4,#0):rnd:sat
 r3:2 = vasrh(r5:4,#3):rnd
 r3:2 = vasrh(r5:4,#0):rnd
 r3:2 = asrrnd(r5:4,#7)
 r3:2 = asrrnd(r5:4,#0)
 r2 = vrcmpys(r5:4,r6):<<1:rnd:sat
 r2 = vrcmpys(r5:4,r7):<<1:rnd:sat
 r3:2 = vrcmpys(r5:4,r7):<<1:sat
 r3:2 += vrcmpys(r5:4,r6):<<1:sat
 p1 = boundscheck(r2,r5:4)
 p1 = boundscheck(r3,r5:4)
 r3:2 = add(r6,r5:4)
 r3:2 = add(r7,r5:4)
 vtrans2x2(v2,v3,r1)
 r2.w = vextract(v1,r2)
 v3:2 = v5:4
 .line 7
 .data
 .value 5
