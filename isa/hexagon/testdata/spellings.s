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
